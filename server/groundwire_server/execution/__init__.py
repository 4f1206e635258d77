"""How the work of a call is run, as all layers below the transport need to know it."""
