"""Builds of given records, for tests of what a build makes of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import unit_length
from groundwire_index.nodes.node import content_hash
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, BuildReport, build_index
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord

V1, V2 = Scope("shop", "main", "v1"), Scope("shop", "main", "v2")


@dataclass(frozen=True)
class Records:
    """A source of given records; `fails` is raised after them."""

    records: Sequence[SourceRecord]
    fails: BaseException | None = None
    description: str = "given records"

    def read(self) -> Iterator[SourceRecord]:
        yield from self.records
        if self.fails is not None:
            raise self.fails


@dataclass
class Stages:
    """Notes every stage and the last that was told of it; `ends` are called when the stages of these names end."""

    seen: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    ends: Mapping[str, Callable[[], None]] = field(default_factory=dict)
    prices: dict[str, float] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str, unit: str, price: float = 0.0) -> Iterator[Callable[[int, int], None]]:
        self.seen[name], self.prices[name], self.units[name] = None, price, unit

        def report(done: int, total: int) -> None:
            self.seen[name] = (done, total)

        yield report
        self.ends.get(name, lambda: None)()


class HashEmbedder:
    """Vectors drawn from the text's hash."""

    name, fingerprint, dimension = "hash", "hash-1", 4

    def embed_query(self, text: str) -> NDArray[np.float32]:
        seed = int(content_hash(text)[:8], 16)
        return unit_length(np.random.default_rng(seed).standard_normal(self.dimension).astype(np.float32))

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts])


def node(local_id: str, text: str = "get user", **columns: object) -> SourceNode:
    return SourceNode("cs", local_id, text, f"file:{local_id}", **columns)  # type: ignore[arg-type]


def edge(from_id: str, to_id: str, edge_type: str = "Calls") -> SourceEdge:
    return SourceEdge(f"cs::{from_id}", f"cs::{to_id}", edge_type, "edges:1")


RECORDS: list[SourceRecord] = [
    node(
        "b", "class Invoice {}", path="src/b.cs", start_line=3, end_line=9, symbol="Invoice", metadata={"z": [1, None]}
    ),
    node("a", "getUserById", language="csharp"),
    node("c", " "),
    edge("a", "b"),
    edge("b", "a", "FK"),
    SkippedFile("src/x.bin", "is binary"),
]


def build(data: Path, records: Sequence[SourceRecord], scope: Scope = V1, **options: object) -> BuildReport:
    chosen = replace(BuildOptions(data, scope, None), **options)  # type: ignore[arg-type]
    return build_index(Records(records), chosen, Stages())


def index_of(data: Path, scope: Scope = V1) -> LoadedIndex:
    return LoadedIndex(IndexStore(data).require(scope))


def refusal(data: Path, records: Sequence[SourceRecord], **options: object) -> str:
    with pytest.raises(IngestError) as caught:
        build(data, records, V1, **options)
    assert IndexStore(data).versions(V1) == []
    assert IndexStore(data).active(V1) == ""
    return str(caught.value)
