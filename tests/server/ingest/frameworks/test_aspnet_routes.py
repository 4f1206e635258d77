"""Which URLs ASP.NET Core code answers."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis
from groundwire_ingest.tree.framework_facts import Route

Analyser = Callable[[str, str], CodeAnalysis]


def routes(analyse: Analyser, text: str) -> dict[str, tuple[str, str]]:
    facts = analyse("a.cs", text).facts
    assert facts is not None
    assert all(isinstance(route, Route) for route in facts.routes)
    return {route.pattern: (route.method, route.handler) for route in facts.routes}


@pytest.mark.parametrize(
    ("statement", "pattern", "method", "handler"),
    [
        ('app.MapGet("/items/{id:int}", GetItem);', "/items/{id}", "GET", "GetItem"),
        ('app.MapPost("items", async (Item i) => await Add(i));', "/items", "POST", ""),
        (
            'app.MapGroup("/api").MapGroup("v1").MapDelete("/x/{*rest}", Api.Drop);',
            "/api/v1/x/{rest*}",
            "DELETE",
            "Api.Drop",
        ),
        ('app.Map("/all", Handler).WithName("all");', "/all", "", "Handler"),
    ],
)
def test_minimal_apis(analyse: Analyser, statement: str, pattern: str, method: str, handler: str) -> None:
    assert routes(analyse, f"class A {{ void F(App app) {{\n {statement}\n }} }}\n") == {pattern: (method, handler)}


@pytest.mark.parametrize("statement", ["map.MapGet(path, X);", 'mapper.MapTo("/a", x);', 'app.MapGet("/a");'])
def test_what_maps_no_route(analyse: Analyser, statement: str) -> None:
    assert routes(analyse, f"class A {{ void F(App app) {{\n {statement}\n }} }}\n") == {}


def test_controllers(analyse: Analyser) -> None:
    text = (
        '[Route("api/[controller]")]\nclass OrdersController : ControllerBase\n{\n'
        '    [HttpGet("{id:guid?}")]\n    public X Get(Guid id) => Find(id);\n'
        "    [HttpPost]\n    public X Create(Y y) => Add(y);\n"
        '    [HttpPut("/absolute/[action]")]\n    public X Change(Y y) => Set(y);\n'
        "    X Find(Guid id) => All[id];\n}\n"
        "class HomeController : Controller\n{\n    public X Index() => View();\n    X Hidden() => View();\n}\n"
    )
    assert routes(analyse, text) == {
        "/api/Orders/{id}": ("GET", ""),
        "/api/Orders": ("POST", ""),
        "/absolute/Change": ("PUT", ""),
        "/Home/Index": ("", ""),
    }
