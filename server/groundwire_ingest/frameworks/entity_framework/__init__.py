"""Entity Framework."""

from groundwire_ingest.frameworks.entity_framework.tables import tables
from groundwire_ingest.frameworks.framework import Framework

ENTITY_FRAMEWORK = Framework(
    languages="csharp",
    finders=(tables,),
    looks_at="class_declaration struct_declaration interface_declaration record_declaration property_declaration",
)
