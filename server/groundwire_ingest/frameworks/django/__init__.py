"""Django with its REST framework."""

from groundwire_ingest.frameworks.django.routes import routes
from groundwire_ingest.frameworks.django.tables import tables
from groundwire_ingest.frameworks.framework import Framework

DJANGO = Framework(languages="python", finders=(routes, tables), looks_at="class_definition")
