"""Tornado."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.tornado.routes import routes

TORNADO = Framework(languages="python", finders=(routes,), looks_at="tuple")
