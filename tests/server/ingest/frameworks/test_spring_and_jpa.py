"""Which URLs Java code answers, and what it tells JPA."""

from collections.abc import Callable

import pytest

from groundwire_ingest.tree.code_facts import CodeAnalysis

Analyser = Callable[[str, str], CodeAnalysis]


def routes(analyse: Analyser, text: str) -> list[tuple[str, str]]:
    facts = analyse("A.java", text).facts
    assert facts is not None
    return [(item.method, item.pattern) for item in facts.routes]


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ('@RequestMapping("/api")', '@GetMapping("/x/{id:[0-9]+}")', [("GET", "/api/x/{id}")]),
        ('@RequestMapping(path = "/api")', "@PostMapping", [("POST", "/api")]),
        ("", '@DeleteMapping(value = {"/a", "b"})', [("DELETE", "/a"), ("DELETE", "/b")]),
        (
            '@RequestMapping("/api")',
            '@RequestMapping(value = "/x", method = {RequestMethod.GET, PUT})',
            [("GET", "/api/x"), ("PUT", "/api/x")],
        ),
        ("", '@RequestMapping("/files/**")', [("", "/files/{rest*}")]),
        ("", '@GetMapping("owners/*/pets")', [("GET", "/owners/{part}/pets")]),
        ('@Path("/api")', '@GET @Path("{id}")', [("GET", "/api/{id}")]),
        ('@Path("/api")', "@PUT", [("PUT", "/api")]),
        ('@FeignClient(name = "shop")', '@GetMapping("/x")', []),
        ("", '@Scheduled("/x")', []),
    ],
)
def test_routes(analyse: Analyser, outer: str, inner: str, expected: list[tuple[str, str]]) -> None:
    assert routes(analyse, f"{outer}\nclass A {{\n  {inner}\n  X run() {{\n    go();\n  }}\n}}\n") == expected


@pytest.mark.parametrize(
    ("annotations", "table", "sure"),
    [
        ('@Entity @Table(name = "orders", schema = "shop")', "shop.orders", 1.0),
        ("@Entity", "order_line", 0.8),
        ('@Entity(name = "lines")', "lines", 0.8),
        ("@Embeddable", None, 0.0),
    ],
)
def test_tables(analyse: Analyser, annotations: str, table: str | None, sure: float) -> None:
    facts = analyse("A.java", f"{annotations}\npublic class OrderLine {{\n}}\n").facts
    assert facts is not None
    assert [(item.table, item.confidence) for item in facts.mappings] == ([(table, sure)] if table else [])
