"""GORM."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.gorm.tables import tables

GORM = Framework(languages="go", finders=(tables,), looks_at="method_declaration type_spec")
