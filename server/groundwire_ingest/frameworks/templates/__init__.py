"""Calls that render a template, in any language."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.templates.views import views

TEMPLATES = Framework(finders=(views,))
