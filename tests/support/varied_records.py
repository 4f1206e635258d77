"""Records that use every field of a node and every rule of an edge, the same on every call."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord, StatedAccess

WORDS = "get user by id HTTPServer invoice_total sha256 größe 支払 a the order2 Überweisung handleRequest x".split()
VALUES: list[JsonValue] = [1, 1.0, True, None, "é", ["a", {"b": 2}, 2.5]]
EDGE_TYPES = ("Calls", "Contains", "FK", "calls")


def varied_records(count: int, seed: int = 1) -> Iterator[SourceRecord]:
    """`count` nodes, about three edges a node, some of them twice, and a skipped file, in a shuffled order."""
    rng = random.Random(seed)
    nodes = [_node(rng, number) for number in range(count)]
    keys = [node.key for node in nodes]
    edges = [_edge(rng, keys, number) for number in range(3 * count)]
    records: list[SourceRecord] = [*nodes, *edges, *edges[:count], SkippedFile("bin/x.dll", "is binary")]
    rng.shuffle(records)
    yield from records


def _node(rng: random.Random, number: int) -> SourceNode:
    def words(most: int) -> str:
        return " ".join(rng.choices(WORDS, k=rng.randint(0, most)))

    def word() -> str:
        return rng.choice(("", *WORDS))

    return SourceNode(
        kind=rng.choice(("cs", "sql", "md")),
        local_id=f"{rng.choice(WORDS)}/{number}",
        text=words(40),
        origin=f"file:{number}",
        path=rng.choice(("", f"src/{word()}/{number % 7}.cs")),
        start_line=number % 5,
        end_line=number % 5 + 3,
        symbol=rng.choice(("", f"Shop.{word()}.{word()}(Int32)")),
        signature=words(3),
        language=word(),
        data_type=word(),
        corpus_type=word(),
        collection_id=word(),
        case_id=word(),
        document_id=rng.choice(("", "", f"doc{number % 4}")),
        document_version_id=rng.choice(("", "2")),
        chunk_index=number % 3,
        is_latest=rng.random() < 0.8,
        deleted=rng.random() < 0.1,
        service_name=rng.choice(("", "auth", "orders")),
        repo_name=rng.choice(("", "other")),
        section_path=words(2),
        author=word(),
        channel=word(),
        timestamp=rng.choice((None, datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=number))),
        source_uri=word(),
        context_prefix=words(2),
        is_test=number % 4 == 0,
        is_generated=number % 6 == 0,
        access=StatedAccess(
            rng.choice(("", "t")), tuple(rng.sample("abc", rng.randint(0, 2))), rng.choice(((), ("x",))), number % 3
        ),
        metadata={word(): rng.choice(VALUES) for _ in range(2)},
    )


def _edge(rng: random.Random, keys: list[str], number: int) -> SourceEdge:
    ends = rng.choice(keys), rng.choice(keys)
    return SourceEdge(*ends, rng.choice(EDGE_TYPES), f"edges:{number}", rng.choice((1e-50, 0.25, 0.9, 1.0)), number % 9)
