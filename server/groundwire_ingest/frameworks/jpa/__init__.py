"""JPA."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.jpa.tables import tables

JPA = Framework(languages="java", finders=(tables,), looks_at="class_declaration")
