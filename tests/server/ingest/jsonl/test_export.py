"""From an index back to JSONL and to the same index again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import MISSING, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import FileEntry, Manifest
from groundwire_index.store.store import IndexStore
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.jsonl.export import export_index
from groundwire_ingest.jsonl.jsonl import JsonlSource
from groundwire_ingest.records import Source, SourceEdge, SourceNode, SourceRecord, StatedAccess
from support.builds import index_of
from support.program import run, run_ok, start
from support.properties import costly

SCOPE = Scope("shop", "main", "v1")
AGAIN = replace(SCOPE, active_index="v2")

Scratch = Callable[[], AbstractContextManager[Path]]


@dataclass(frozen=True)
class Records:
    """A source of given records."""

    records: Sequence[SourceRecord]
    description: str = "given records"

    def read(self) -> Iterator[SourceRecord]:
        yield from self.records


class NoProgress:
    """Shows nothing."""

    @contextmanager
    def stage(self, name: str, unit: str, price: float = 0.0) -> Iterator[Callable[[int, int], None]]:
        yield lambda done, total: None


class ConstantEmbedder:
    """One vector for every text."""

    name, fingerprint, dimension = "constant", "constant-1", 2

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray([1.0, 0.0], dtype=np.float32)

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.embed_query(text) for text in texts])


def build(data: Path, source: Source, scope: Scope, embedder: ConstantEmbedder | None = None) -> None:
    build_index(source, BuildOptions(data, scope, embedder), NoProgress())


def exported_and_rebuilt(data: Path, records: Sequence[SourceRecord]) -> int:
    """Builds SCOPE from records, exports it, builds AGAIN from the export; returns the number of lines."""
    build(data, Records(records), SCOPE)
    lines = export_index(index_of(data, SCOPE), data / "export.jsonl")
    build(data, JsonlSource(data / "export.jsonl"), AGAIN)
    return lines


def files_of(data: Path, scope: Scope) -> dict[str, FileEntry]:
    return {entry.name: entry for entry in Manifest.read(IndexStore(data).require(scope)).files}


DEFAULTS = {field.name: field.default for field in fields(SourceNode) if field.default is not MISSING}

names = st.text(max_size=6)
lines = st.integers(1, 99)


@st.composite
def nodes(draw: st.DrawFn) -> SourceNode:
    """A node of any text: line breaks of all kinds, quotes, what JSON escapes and what UTF-8 needs four bytes for."""
    start = draw(lines)
    return SourceNode(
        kind=draw(st.sampled_from(["cs", "sql"])),
        local_id=draw(st.text(min_size=1, max_size=8)),
        text=draw(st.text(max_size=20) | st.sampled_from(["a\r\nb\u2028c\x85d", '{"type": "edge"}', "\x00\x1f\\"])),
        origin="x:1",
        path=draw(names),
        start_line=start,
        end_line=start + draw(st.integers(0, 9)),
        symbol=draw(names),
        signature=draw(names),
        language=draw(names),
        data_type=draw(names),
        corpus_type=draw(names),
        collection_id=draw(names),
        case_id=draw(names),
        document_id=draw(names),
        document_version_id=draw(names),
        chunk_index=draw(st.integers(0, 2**31 - 1)),
        is_latest=draw(st.booleans()),
        deleted=draw(st.booleans()),
        service_name=draw(names),
        repo_name=draw(names | st.just(SCOPE.repository)),
        section_path=draw(names),
        author=draw(names),
        channel=draw(names),
        timestamp=draw(st.none() | st.datetimes(timezones=st.just(UTC))),
        source_uri=draw(names),
        context_prefix=draw(names),
        is_test=draw(st.booleans()),
        is_generated=draw(st.booleans()),
        access=StatedAccess(
            tenant_id=draw(names),
            acl_tags=tuple(draw(st.lists(st.text(min_size=1, max_size=4), max_size=2))),
            classification_labels=tuple(draw(st.lists(st.text(min_size=1, max_size=4), max_size=2))),
            clearance_level=draw(st.integers(0, 9)),
        ),
        metadata=draw(
            st.dictionaries(
                names,
                st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
                max_size=3,
            )
        ),
    )


@st.composite
def sources(draw: st.DrawFn) -> list[SourceRecord]:
    chosen = draw(st.lists(nodes(), unique_by=lambda node: node.key, min_size=1, max_size=4))
    ends = st.sampled_from([node.key for node in chosen])
    confidences = st.floats(min_value=0, max_value=1, exclude_min=True, width=32)
    edges = st.builds(
        SourceEdge,
        ends,
        ends,
        st.text(min_size=1, max_size=6).filter("*".__ne__),
        st.just("x:2"),
        confidences,
        st.integers(0, 2**31 - 1),
    )
    return [*chosen, *draw(st.lists(edges, max_size=4))]


@costly()
@given(records=sources())
def test_an_export_builds_the_same_index_again(records: list[SourceRecord], scratch: Scratch) -> None:
    with scratch() as data, patch("os.fsync"):
        count = exported_and_rebuilt(data, records)
        manifest = Manifest.read(IndexStore(data).require(SCOPE))
        assert count == manifest.node_count + manifest.edge_count
        assert files_of(data, SCOPE) == files_of(data, AGAIN)
        export_index(index_of(data, AGAIN), data / "again.jsonl")
        assert (data / "again.jsonl").read_bytes() == (data / "export.jsonl").read_bytes()


@costly()
@given(
    vectors=st.lists(st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=3).filter(any), min_size=1, max_size=24)
)
def test_own_vectors_are_exported_bit_for_bit(vectors: list[list[float]], scratch: Scratch) -> None:
    records = [SourceNode("cs", f"N{row}", "x", "x:1", vector=tuple(vector)) for row, vector in enumerate(vectors)]
    with scratch() as data, patch("os.fsync"):
        exported_and_rebuilt(data, records)
        assert files_of(data, SCOPE) == files_of(data, AGAIN)


def test_vectors_of_an_embedder_are_not_exported(tmp_path: Path) -> None:
    build(tmp_path, Records([SourceNode("cs", "a", "text", "x:1")]), SCOPE, ConstantEmbedder())
    export_index(index_of(tmp_path, SCOPE), tmp_path / "export.jsonl")
    assert "vector" not in (tmp_path / "export.jsonl").read_text()
    build(tmp_path, JsonlSource(tmp_path / "export.jsonl"), AGAIN, ConstantEmbedder())
    assert files_of(tmp_path, SCOPE) == files_of(tmp_path, AGAIN)


PAIR: list[SourceRecord] = [
    SourceNode("cs", "a", "text", "x:1"),
    SourceNode("sql", "dbo.T|TABLE", "ü", "x:2", access=StatedAccess()),
    SourceEdge("cs::a", "sql::dbo.T|TABLE", "ReadsFrom", "x:3", 0.5, 12),
]


def test_the_lines_are_canonical(tmp_path: Path) -> None:
    build(tmp_path, Records(PAIR), SCOPE)
    assert export_index(index_of(tmp_path, SCOPE), tmp_path / "export.jsonl") == 3
    access = '"tenant_id": "", "acl_tags": [], "classification_labels": [], "clearance_level": 0'
    assert (tmp_path / "export.jsonl").read_text(encoding="utf-8").splitlines() == [
        '{"type": "node", "kind": "cs", "local_id": "a", "text": "text", ' + access + "}",
        '{"type": "node", "kind": "sql", "local_id": "dbo.T|TABLE", "text": "ü", ' + access + "}",
        '{"type": "edge", "from": "cs::a", "to": "sql::dbo.T|TABLE", "edge_type": "ReadsFrom", "confidence": 0.5, '
        '"line": 12}',
    ]


def test_every_field_is_exported(tmp_path: Path) -> None:
    node = SourceNode(
        kind="slack",
        local_id="general/1.000000",
        text="text",
        origin="x:1",
        path="general/2025-01-01.json",
        start_line=1,
        end_line=2,
        symbol="s",
        signature="g",
        language="l",
        data_type="conversation",
        corpus_type="CONVO_SLACK",
        collection_id="i",
        case_id="C-7",
        document_id="D",
        document_version_id="3",
        chunk_index=4,
        is_latest=False,
        deleted=True,
        service_name="billing",
        repo_name="other",
        section_path="A > B",
        author="Ada",
        channel="general",
        timestamp=datetime(2025, 1, 1, 10, 0, 0, 500, tzinfo=UTC),
        source_uri="u",
        context_prefix="f",
        is_test=True,
        is_generated=True,
        access=StatedAccess("acme", ("a",), ("b",), 3),
        vector=(0.6, 0.8),
        metadata={"k": [1]},
    )
    build(tmp_path, Records([node]), SCOPE)
    export_index(index_of(tmp_path, SCOPE), tmp_path / "export.jsonl")
    (exported,) = JsonlSource(tmp_path / "export.jsonl").read()
    assert isinstance(exported, SourceNode)
    assert exported == replace(node, origin=exported.origin, vector=exported.vector)
    assert exported.vector == pytest.approx(node.vector)
    assert all(getattr(node, name) != default for name, default in DEFAULTS.items())


def test_an_export_can_be_built_under_another_scope(tmp_path: Path) -> None:
    build(tmp_path, Records(PAIR), SCOPE)
    export_index(index_of(tmp_path, SCOPE), tmp_path / "export.jsonl")
    other = Scope("other: shop", "feature/x", "v1")
    build(tmp_path, JsonlSource(tmp_path / "export.jsonl"), other)
    index = LoadedIndex(IndexStore(tmp_path).require(other))
    assert [index.nodes.ids[row] for row in range(2)] == [
        "other: shop::feature/x::cs::a",
        "other: shop::feature/x::sql::dbo.T|TABLE",
    ]
    assert {index.nodes.node(row, NodeAccess()).repo_name for row in range(2)} == {"other: shop"}


def export(data: Path, *flags: str) -> str:
    return run_ok("export", "-r", "shop", "-b", "main", "-o", "-", "--data", data, *flags)


def test_the_active_version_is_exported_unless_another_is_named(tmp_path: Path) -> None:
    build(tmp_path, Records([SourceNode("cs", "a", "first", "x:1")]), SCOPE)
    build(tmp_path, Records([SourceNode("cs", "a", "second", "x:1")]), AGAIN)
    assert '"text": "second"' in export(tmp_path)
    assert '"text": "first"' in export(tmp_path, "--version", "v1")


def test_a_reader_that_goes_early_is_told_of_no_error(tmp_path: Path) -> None:
    build(tmp_path, Records([SourceNode("cs", f"node{number}", "x" * 1_000, "x:1") for number in range(50)]), SCOPE)
    process = start("export", "-r", "shop", "-b", "main", "-o", "-", "--data", tmp_path)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert (process.stderr.read(), process.wait(60)) == ("", 1)


def test_what_is_not_there_or_damaged_is_not_exported(tmp_path: Path) -> None:
    output = tmp_path / "export.jsonl"

    def refusal(*flags: str) -> str:
        ended = run("export", "-r", "shop", "-b", "main", "-o", output, "--data", tmp_path, *flags)
        assert (ended.returncode, ended.stdout) == (1, "")
        return ended.stderr

    assert f"shop main has no active version in {tmp_path}; name a version" in refusal()
    build(tmp_path, Records(PAIR), SCOPE)
    build(tmp_path, Records(PAIR), AGAIN)
    assert "there is no index 'v9' in this scope" in refusal("--version", "v9")
    store = IndexStore(tmp_path)
    store.delete(SCOPE)
    assert "index 'v1' was deleted" in refusal("--version", "v1")
    (store.directory(AGAIN) / "text.utf8").unlink()
    assert "text.utf8: is missing" in refusal()
    assert not output.exists()
