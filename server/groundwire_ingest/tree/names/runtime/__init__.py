"""Links made at run time: routes and requests, messages and handlers, interfaces and implementations."""
