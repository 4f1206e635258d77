"""Messages under a name or a type, in any language."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.messages.topics import topics

MESSAGES = Framework(finders=(topics,))
