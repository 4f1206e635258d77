"""Express, Fastify, Koa, Hono, Elysia, restify and routers like theirs."""

from groundwire_ingest.frameworks.express.routes import routes
from groundwire_ingest.frameworks.framework import Framework

EXPRESS = Framework(
    languages="typescript javascript",
    finders=(routes,),
    looks_at="variable_declarator import_statement export_statement",
)
