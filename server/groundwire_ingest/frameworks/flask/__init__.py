"""Flask, FastAPI, Starlette, aiohttp, Pyramid and routers like theirs."""

from groundwire_ingest.frameworks.flask.routes import routes
from groundwire_ingest.frameworks.framework import Framework

FLASK = Framework(languages="python", finders=(routes,), looks_at="decorator assignment")
