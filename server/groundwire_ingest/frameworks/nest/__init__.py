"""Nest and Angular, and the containers of Inversify, tsyringe and their like."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.nest.providers import providers
from groundwire_ingest.frameworks.nest.routes import routes

NEST = Framework(
    languages="typescript javascript", finders=(routes, providers), looks_at="class_declaration object class_heritage"
)
