"""An index for both backends to serve: few distinct values, so that ties, twins and shared documents abound."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from groundwire_index.nodes.node import CONTAINS, Edge, JsonValue, Node, NodeAccess
from support.bound_oracle import VALUES
from support.chunks import ACCESSES, METADATA, PATHS, SYMBOLS

MakeNode = Callable[..., Node]

WORDS = "get user users by id tax invoice invoices total order größe 支払 the a of handleRequest getUserById".split()
WORKFLOWS: list[JsonValue] = ["red", "", "re", ["blue", "reed", ""], 7, None, ["ré", '"r']]
LONG = "größer als ein Feld " * 4_000
"""A text that is spilled."""
LARGE_DOCUMENT = 2_040
"""Nodes of a document that is too large for a file's score, unless few of them are visible."""


@dataclass(frozen=True)
class Content:
    """Nodes, the edges between them, and the vector of each or None."""

    nodes: list[Node]
    edges: list[Edge]
    vectors: list[tuple[float, ...] | None]


def varied_content(make_node: MakeNode, count: int, large_document: int = 0, seed: int = 7) -> Content:
    """`count` nodes that use every column, and those of one large document, which are alike."""
    chance = Random(seed)
    nodes = [_node(chance, make_node, number) for number in range(count)]
    nodes.append(make_node("long", LONG, path="src/long.py", symbol="Long.text"))
    nodes += [
        make_node(
            f"large{number:05}",
            chance.choice(["tax", "tax id", ""]),
            path="data/large.csv",
            start_line=number,
            access=NodeAccess() if number % 50 else NodeAccess(acl_tags=("a",)),
            deleted=number % 7 == 0,
            collection_id="red" if number % 40 == 0 else "",
        )
        for number in range(large_document)
    ]
    return Content(nodes, _edges(chance, nodes), [_vector(chance) for _ in nodes])


def _node(chance: Random, make_node: MakeNode, number: int) -> Node:
    metadata = dict(chance.choice(METADATA))
    if chance.random() < 0.7:
        metadata["workflow_id"] = chance.choice(WORKFLOWS)
    start = datetime(2025, 1, 1, 10, tzinfo=UTC)
    return make_node(
        f"N{number:03}",
        " ".join(chance.choices(WORDS, k=chance.choice((0, 1, 2, 5, 20, 60)))),
        access=chance.choice(ACCESSES),
        kind=chance.choice(("cs", "sql")),
        path=chance.choice([*PATHS, f"src/{chance.choice(WORDS)}/{number % 9}.py"]),
        start_line=chance.randint(1, 3),
        symbol=chance.choice([*SYMBOLS, f"{chance.choice(WORDS)}.{chance.choice(WORDS)}"]),
        signature=chance.choice(("", "def f()")),
        language=chance.choice(VALUES),
        data_type=chance.choice(VALUES),
        corpus_type=chance.choice(("", "CODE_LOGIC", "CONVO_SLACK")),
        collection_id=chance.choice(VALUES),
        case_id=chance.choice(VALUES),
        document_id=chance.choice(("", "", *VALUES)),
        document_version_id=chance.choice(("", "", "red")),
        chunk_index=chance.randint(0, 2),
        is_latest=chance.random() < 0.8,
        deleted=chance.random() < 0.2,
        service_name=chance.choice(VALUES),
        repo_name=chance.choice(("shop", "shop", "b")),
        section_path=chance.choice(("", "A > B")),
        author=chance.choice(VALUES),
        channel=chance.choice(VALUES),
        timestamp=chance.choice((None, start + timedelta(seconds=number, microseconds=5))),
        source_uri=chance.choice(("", "https://example.com/a")),
        context_prefix=chance.choice(("", "A > B")),
        is_test=chance.random() < 0.3,
        is_generated=chance.random() < 0.2,
        metadata=metadata,
    )


def _edges(chance: Random, nodes: list[Node]) -> list[Edge]:
    few = [node.id for node in nodes[:400]]
    ends = {
        (chance.choice(few), chance.choice(few), chance.choice((CONTAINS, "Calls", "FK"))) for _ in range(4 * len(few))
    }
    return [
        Edge(*edge_ends, chance.choice((1e-50, 0.25, 0.7, 0.8, 0.9, 1.0)), chance.randint(0, 9))
        for edge_ends in sorted(ends)
    ]


def _vector(chance: Random) -> tuple[float, ...] | None:
    """Often one of few vectors, so that whole lists tie."""
    if chance.random() < 0.1:
        return None
    if chance.random() < 0.5:
        return chance.choice([(1.0, 0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0, 0.0), (0.0, -1.0, 0.0, 0.0, 1.0)])
    return tuple(chance.gauss(0, 1) for _ in range(5))
