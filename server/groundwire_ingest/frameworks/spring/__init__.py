"""Spring, and JAX-RS with the same annotations on classes and methods."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.spring.routes import routes
from groundwire_ingest.frameworks.spring.views import views

SPRING = Framework(
    languages="java",
    finders=(routes, views),
    looks_at="""class_declaration interface_declaration record_declaration method_declaration return_statement
    field_declaration""",
)
