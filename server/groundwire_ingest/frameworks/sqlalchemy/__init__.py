"""SQLAlchemy."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.sqlalchemy.tables import tables

SQLALCHEMY = Framework(languages="python", finders=(tables,), looks_at="class_definition")
