"""A Groundwire server as tools and resources of the Model Context Protocol, for coding agents.

`groundwire mcp` serves them. The access of a model is fixed before it asks: the scopes by the operator, the access by
the operator or by the bearer token of the HTTP request. No argument of a tool names access or another scope.
"""
