"""Angular: components, directives and pipes, the elements that stand for them, and their templates."""

from groundwire_ingest.frameworks.angular.templates import selector_edges, with_members_named
from groundwire_ingest.frameworks.angular.views import views
from groundwire_ingest.frameworks.framework import Framework

ANGULAR = Framework(languages="typescript", finders=(views,), completed=with_members_named, file_edges=selector_edges)
