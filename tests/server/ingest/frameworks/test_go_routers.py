"""Which URLs Go code answers."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


def routes(analyse: Analyser, body: str, imports: str = "") -> list[tuple[str, str, str]]:
    facts = analyse("a.go", f"package a\n\n{imports}\n\nfunc run(r Router) {{\n{body}\n}}\n").facts
    assert facts is not None
    return [(item.method, item.pattern, item.handler) for item in facts.routes]


@pytest.mark.parametrize(
    ("statement", "method", "pattern", "handler"),
    [
        ('mux.HandleFunc("GET /items/{id}", getItem)', "GET", "/items/{id}", "getItem"),
        ('http.HandleFunc("/items", s.items)', "", "/items", "s.items"),
        ('mux.HandleFunc("/files/{rest...}", serve)', "", "/files/{rest*}", "serve"),
        ('mux.HandleFunc("/static/", serve)', "", "/static/{rest*}", "serve"),
        ('mux.HandleFunc("/exact/{$}", serve)', "", "/exact", "serve"),
        ('mux.HandleFunc("example.com/x", serve)', "", "/x", "serve"),
        ('r.HandleFunc("/a/{id:[0-9]+}", h.Get).Methods("POST")', "POST", "/a/{id}", "h.Get"),
        ('r.HandleFunc("/a", h.Get).Methods(http.MethodPut)', "PUT", "/a", "h.Get"),
        ('r.PathPrefix("/api").Subrouter().HandleFunc("/x", h.Get)', "", "/api/x", "h.Get"),
        ('r.Get("/items/{id}", h.Get)', "GET", "/items/{id}", "h.Get"),
        ('r.With(auth).Delete("/items", h.Delete)', "DELETE", "/items", "h.Delete"),
        ('r.MethodFunc("patch", "/items", h.Patch)', "PATCH", "/items", "h.Patch"),
        ('r.GET("/items/:id", auth, h.Get)', "GET", "/items/{id}", "h.Get"),
        ('r.GET("items/*path", h.Get)', "GET", "/items/{path*}", "h.Get"),
        ('r.Group("/api").Group("/v1").POST("", h.Add)', "POST", "/api/v1", "h.Add"),
        ('r.Get(base+"/items", h.Get)', "GET", "/items", "h.Get"),
        ('r.Post("/x", func(w W, q *R) { save(q) })', "POST", "/x", ""),
    ],
)
def test_routes(analyse: Analyser, statement: str, method: str, pattern: str, handler: str) -> None:
    assert routes(analyse, statement)[0] == (method, pattern, handler)


@pytest.mark.parametrize(
    "statement",
    [
        'client.Get("/items")',
        "r.Get(path, h.Get)",
        'http.Get("https://example.com/x", y)',
        'cache.Put("key", h.Get)',
        'Handle("/x", h.Get)',
    ],
)
def test_what_is_no_route(analyse: Analyser, statement: str) -> None:
    assert routes(analyse, statement) == []


def test_of_echo_the_handler_comes_first(analyse: Analyser) -> None:
    imports = 'import "github.com/labstack/echo/v4"'
    assert routes(analyse, 'e.GET("/a", h.Get, auth)', imports)[0] == ("GET", "/a", "h.Get")


def test_groups_within_functions(analyse: Analyser) -> None:
    body = (
        'r.Route("/api", func(r chi.Router) {\n\tr.Group(func(r chi.Router) {\n\t\tr.Get("/a", h.A)\n\t})\n'
        '\tr.Route("/b/{id}", func(sub chi.Router) { sub.Put("/", h.B) })\n})\nr.Get("/c", h.C)'
    )
    assert [item[:2] for item in routes(analyse, body) if not item[2].endswith("ServeHTTP")] == [
        ("GET", "/api/a"),
        ("PUT", "/api/b/{id}"),
        ("GET", "/c"),
    ]


def test_a_handler_that_is_wrapped_or_made_is_stated_by_all_that_may_be_it(analyse: Analyser) -> None:
    assert [item[2] for item in routes(analyse, 'mux.Handle("/a", auth(http.HandlerFunc(s.list)))')] == [
        "s.list",
        "s.list.ServeHTTP",
        "http.HandlerFunc",
        "auth",
    ]
    assert [item[2] for item in routes(analyse, 'mux.Handle("/a", &Lister{})')] == ["Lister().ServeHTTP"]
