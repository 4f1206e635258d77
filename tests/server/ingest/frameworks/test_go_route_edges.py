"""From the registration of a route to its handler, and from requests to it, in Go."""

from collections.abc import Callable, Mapping

import pytest

EdgesOf = Callable[..., dict[tuple[str, str], float]]

MODULES = {"": "example.com/shop"}
HANDLERS = (
    "package api\n\ntype API struct{}\n\nfunc (a *API) List(c *gin.Context) {}\n\n"
    "func (a *API) Made() Handler { return nil }\n\n"
    "func Health(w W, r *R) {}\n\nfunc Auth(next Handler) Handler { return next }\n\n"
    "type Page struct{}\n\nfunc (p Page) ServeHTTP(w W, r *R) {}\n"
)
MAIN = "main.go#main"


@pytest.mark.parametrize(
    ("statement", "handler"),
    [
        ('mux.HandleFunc("/health", api.Health)', "api/api.go#Health"),
        ('r.GET("/list", handlers.List)', "api/api.go#API.List"),
        ('r.GET("/list", handlers.Made())', "api/api.go#API.Made"),
        ('mux.Handle("/list", api.Auth(http.HandlerFunc(api.Health)))', "api/api.go#Health"),
        ('mux.Handle("/page", &api.Page{})', "api/api.go#Page.ServeHTTP"),
        ('page := api.Page{}\nmux.Handle("/page", page)', "api/api.go#Page.ServeHTTP"),
        ('r.GET("/list", handlers.store)', None),
        ('r.GET("/list", unknown)', None),
    ],
)
def test_a_route_leads_to_its_handler(edges_of: EdgesOf, statement: str, handler: str | None) -> None:
    main = (
        f'package main\n\nimport "example.com/shop/api"\n\nfunc main() {{\nhandlers := api.API{{}}\n{statement}\n}}\n'
    )
    routes = edges_of("Routes", {"main.go": main, "api/api.go": HANDLERS}, MODULES)
    assert {end for start, end in routes if start == MAIN} == ({handler} if handler else set())


CLIENT = 'package client\n\nfunc ask() {\n\thttp.Get("{url}")\n}\n'
USERS = "package users\n\nfunc List(c *gin.Context) {}\n\n"


@pytest.mark.parametrize(
    ("main", "users", "url"),
    [
        ('r.GET("/users/:id", users.List)', "", "/users/7"),
        ('g := r.Group("/api")\ng.GET("/users", users.List)', "", "/api/users"),
        (
            'users.Register(r.Group("/api"))',
            'func Register(r *gin.RouterGroup) { r.GET("/users", List) }',
            "/api/users",
        ),
        (
            'g := r.Group("/api")\nv1 := g.Group("/v1")\nusers.Register(db, v1)',
            'func Register(db *DB, r gin.IRouter) { r.GET("/users", List) }',
            "/api/v1/users",
        ),
        (
            'r.Mount("/api", users.Routes())',
            'func Routes() chi.Router {\n\tr := chi.NewRouter()\n\tr.Get("/users", List)\n\treturn r\n}',
            "/api/users",
        ),
        (
            'r.Route("/api", func(r chi.Router) {\nr.Mount("/v1", users.Routes())\n})',
            'func Routes() chi.Router {\n\tr := chi.NewRouter()\n\tr.Get("/users", List)\n\treturn r\n}',
            "/api/v1/users",
        ),
    ],
)
def test_prefixes_of_groups_and_of_routers_that_are_handed_over(
    edges_of: EdgesOf, main: str, users: str, url: str
) -> None:
    files: Mapping[str, str] = {
        "main.go": f'package main\n\nimport "example.com/shop/users"\n\nfunc main() {{\nr := gin.New()\n{main}\n}}\n',
        "users/users.go": USERS + users + "\n",
        "client/client.go": CLIENT.replace("{url}", f"http://shop:8080{url}"),
    }
    requests = edges_of("Requests", files, MODULES)
    assert requests == {("client/client.go#ask", "users/users.go#List"): 0.9}


def test_a_function_that_adds_routes_names_them(edges_of: EdgesOf) -> None:
    files = {
        "server/api.go": (
            'package server\n\nimport "github.com/go-chi/chi/v5"\n\ntype Router struct{}\n\n'
            "func (api *Router) routes() {\n\tr := chi.NewRouter()\n"
            '\th(r, "star", api.Star)\n\th(r, name, api.Other)\n}\n\n'
            "func h(r chi.Router, path string, f handler) {\n"
            '\thandle := wrap(f)\n\tr.HandleFunc("/"+path, handle)\n}\n\n'
            "func (api *Router) Star(w http.ResponseWriter, r *http.Request) {\n\ta := 1\n\tuse(a)\n}\n\n"
            "func (api *Router) Other(w http.ResponseWriter, r *http.Request) {\n\ta := 1\n\tuse(a)\n}\n"
        ),
        "ui/client.js": (
            'export const star = (id) => {\n  const x = 1;\n  return http(url("star", id));\n};\n'
            'export const other = (id) => {\n  const x = 1;\n  return http(this.url("star", id));\n};\n'
        ),
    }
    assert edges_of("Routes", files) == {("server/api.go#Router.routes", "server/api.go#Router.Star"): 0.9}
    assert edges_of("Requests", files) == {("ui/client.js#star", "server/api.go#Router.Star"): 0.9}
