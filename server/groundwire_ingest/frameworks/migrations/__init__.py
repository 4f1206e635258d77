"""Migrations in code: Alembic, Django, Entity Framework, Knex and others."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.migrations.changes import table_changes

MIGRATIONS = Framework(finders=(table_changes,))
