"""Entity Framework."""

from groundwire_ingest.frameworks.entity_framework.tables import tables
from groundwire_ingest.frameworks.entity_framework.uses import entity_uses
from groundwire_ingest.frameworks.framework import Framework

ENTITY_FRAMEWORK = Framework(languages="csharp", finders=(tables,), entity_uses=entity_uses)
