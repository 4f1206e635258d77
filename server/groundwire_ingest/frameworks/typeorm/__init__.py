"""TypeORM, Sequelize, Drizzle and ORMs like them."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.typeorm.tables import tables

TYPEORM = Framework(
    languages="typescript javascript",
    finders=(tables,),
    looks_at="class_declaration public_field_definition field_definition method_definition",
)
