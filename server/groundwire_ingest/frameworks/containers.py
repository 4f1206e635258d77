"""Containers that get what they hand out from marked methods: Spring, Guice, Dagger, and those of CDI."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.names.conventions import NameConventions

CONTAINERS = Framework(names=NameConventions(providing="Bean Provides Produces"))
