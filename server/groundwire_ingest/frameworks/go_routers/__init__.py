"""net/http of Go, and chi, gin, echo, fiber, gorilla/mux and routers like them."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.frameworks.go_routers.routes import routes

GO_ROUTERS = Framework(
    languages="go", finders=(routes,), looks_at="import_spec parameter_declaration short_var_declaration"
)
