"""From records to a published version: what it holds, what is refused, and the same files from the same records."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire.tokens import TokenCounter
from groundwire_server.domain.errors import IngestError
from groundwire_server.domain.nodes import content_hash
from groundwire_server.domain.scope import Scope
from groundwire_server.embedding.embedder import unit_length
from groundwire_server.index.loaded import LoadedIndex
from groundwire_server.index.manifest import FileEntry, Manifest, VectorSpace
from groundwire_server.index.store import IndexStore
from groundwire_server.ingest.build import BuildOptions, BuildReport, build_index
from groundwire_server.ingest.records import SkippedFile, SourceEdge, SourceNode, SourceRecord, StatedAccess
from groundwire_server.text.code_tokenizer import TOKENIZER_FINGERPRINT

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
    """Notes every stage and the last that was told of it."""

    seen: dict[str, tuple[int, int] | None] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[[int, int], None]]:
        self.seen[name] = None

        def report(done: int, total: int) -> None:
            self.seen[name] = (done, total)

        yield report


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


def files_of(data: Path, scope: Scope) -> tuple[FileEntry, ...]:
    return Manifest.read(IndexStore(data).require(scope)).files


def test_a_build_publishes_activates_and_reports(tmp_path: Path) -> None:
    report = build(tmp_path, RECORDS)
    assert report == BuildReport(
        scope=V1,
        source="given records",
        node_count=3,
        kinds=(("cs", 3),),
        edge_types=(("Calls", 1), ("FK", 1)),
        skipped=(SkippedFile("src/x.bin", "is binary"),),
        dropped_edges=0,
        embedded=0,
        reused=0,
        activated=True,
    )
    assert IndexStore(tmp_path).active(V1) == "v1"
    manifest = index_of(tmp_path).manifest
    assert (manifest.source, manifest.node_count, manifest.edge_count) == ("given records", 3, 2)
    assert (manifest.tokenizer, manifest.vector_space) == (TOKENIZER_FINGERPRINT, None)


def test_a_build_that_is_not_to_be_activated_is_published_only(tmp_path: Path) -> None:
    build(tmp_path, RECORDS)
    assert build(tmp_path, RECORDS, V2, activate=False).activated is False
    assert IndexStore(tmp_path).active(V1) == "v1"
    assert IndexStore(tmp_path).versions(V1) == ["v1", "v2"]


def test_every_column_and_count_reaches_the_index(tmp_path: Path) -> None:
    build(tmp_path, RECORDS)
    nodes = index_of(tmp_path).nodes
    assert [nodes.ids[row] for row in range(3)] == [f"shop::main::cs::{name}" for name in "abc"]
    assert nodes.texts[1] == "class Invoice {}"
    assert nodes.location(1).path == "src/b.cs"
    assert (nodes.location(1).start_line, nodes.location(1).end_line) == (3, 9)
    assert nodes.location(1).content_hash == content_hash("class Invoice {}")
    assert nodes.metadata(1) == {"z": [1, None]}
    assert nodes.categories["language"][0] == "csharp"
    count = TokenCounter().count
    assert nodes.numbers["token_count"].tolist() == [count("getUserById"), count("class Invoice {}"), count(" ")]
    assert nodes.numbers["char_count"].tolist() == [11, 16, 1]


@pytest.mark.parametrize("term", ["invoic", "src", "userid", "getuserbyid"])
def test_symbol_path_and_text_are_searched_for_words(tmp_path: Path, term: str) -> None:
    records = [node("a", "getUserById", path="src/x.cs", symbol="Invoice.userId"), node("b", "nothing")]
    build(tmp_path, records)
    lexical = index_of(tmp_path).lexical
    assert lexical is not None
    assert lexical.postings(term)[0].tolist() == [0]


def test_every_stage_is_shown_to_its_end(tmp_path: Path) -> None:
    stages = Stages()
    build_index(Records(RECORDS), BuildOptions(tmp_path, V1, HashEmbedder()), stages)
    assert stages.seen == {
        "Reading": (6, 0),
        "Counting tokens": (3, 3),
        "Embedding": (2, 2),
        "Tokenising": (3, 3),
        "Writing": None,
    }


records_of_hypothesis = st.lists(
    st.builds(
        node,
        st.text(min_size=1, max_size=4),
        st.text(max_size=8),
        path=st.sampled_from(["", "a", "b/ü"]),
        symbol=st.text(max_size=4),
        metadata=st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3), max_size=2),
        vector=st.tuples(st.integers(1, 9), st.integers(-9, 9)),
        access=st.builds(
            StatedAccess,
            tenant_id=st.sampled_from(["", "t"]),
            acl_tags=st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
        ),
    ),
    unique_by=lambda record: record.local_id,
    min_size=1,
    max_size=6,
)


@settings(max_examples=50)
@given(nodes=records_of_hypothesis, data=st.data())
def test_the_order_of_records_changes_no_byte(
    nodes: list[SourceNode], data: st.DataObject, scratch: Callable[[], AbstractContextManager[Path]]
) -> None:
    ends = st.sampled_from([record.local_id for record in nodes])
    edges = data.draw(st.lists(st.builds(edge, ends, ends, st.sampled_from(["Calls", "FK"])), max_size=6))
    records: list[SourceRecord] = [*nodes, *edges]
    shuffled = data.draw(st.permutations(records))
    with scratch() as directory, patch("os.fsync"):
        build(directory, records, V1)
        build(directory, shuffled, V2)
        assert files_of(directory, V1) == files_of(directory, V2)


def test_the_same_records_give_the_same_manifest_but_for_name_and_time(tmp_path: Path) -> None:
    records = [*RECORDS]
    for scope in (V1, V2):
        build(tmp_path, records, scope, embedder=HashEmbedder())
        random.Random(5).shuffle(records)
    first, second = (Manifest.read(IndexStore(tmp_path).require(scope)) for scope in (V1, V2))
    assert replace(second, version="v1", created=first.created) == first


def test_embedding_reuses_what_an_earlier_version_embedded(tmp_path: Path) -> None:
    first = build(tmp_path, RECORDS, V1, embedder=HashEmbedder())
    assert (first.embedded, first.reused) == (2, 0)
    more = [*RECORDS, node("d", "a new text")]
    second = build(tmp_path, more, V2, embedder=HashEmbedder())
    assert (second.embedded, second.reused) == (1, 2)
    index = index_of(tmp_path, V2)
    assert index.manifest.vector_space == VectorSpace("hash", "hash-1", 4)
    assert index.vectors is not None
    assert index.vectors.present.tolist() == [True, True, False, True]
    assert index.vectors.rows[0].tobytes() == HashEmbedder().embed_query("getUserById").tobytes()


def refusal(data: Path, records: Sequence[SourceRecord], **options: object) -> str:
    with pytest.raises(IngestError) as caught:
        build(data, records, V1, **options)
    assert IndexStore(data).versions(V1) == []
    assert IndexStore(data).active(V1) == ""
    return str(caught.value)


def test_own_vectors_are_stored_at_unit_length(tmp_path: Path) -> None:
    build(tmp_path, [node("a", vector=(3.0, 4.0)), node("b", "", vector=(0.0, -2.0))])
    index = index_of(tmp_path)
    assert index.manifest.vector_space == VectorSpace("", "", 2)
    assert index.vectors is not None
    assert index.vectors.rows.tolist() == [pytest.approx([0.6, 0.8]), [0.0, -1.0]]
    assert index.vectors.present.tolist() == [True, True]


@pytest.mark.parametrize("scale", [1e-30, 1e30], ids=["tiny", "huge"])
def test_own_vectors_may_have_any_length_that_a_32_bit_float_holds(tmp_path: Path, scale: float) -> None:
    build(tmp_path, [node("a", vector=(3.0 * scale, 4.0 * scale))])
    vectors = index_of(tmp_path).vectors
    assert vectors is not None
    assert vectors.rows.tolist() == [pytest.approx([0.6, 0.8])]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        pytest.param(
            [node("a", vector=(1.0, 2.0)), node("b", vector=(1.0,))],
            "file:b: vector has 1 components, others have 2",
            id="another dimension",
        ),
        pytest.param(
            [node("a", vector=(1.0, 2.0)), node("b")],
            "file:b: vector has 0 components, others have 2",
            id="a node without",
        ),
        pytest.param(
            [node("a", vector=(1.0, 2.0)), node("b", vector=(0.0, -0.0))],
            "file:b: vector has length 0.0, so no direction; give finite numbers, not all 0",
            id="all zero",
        ),
        pytest.param(
            [node("a", vector=(1.0, float("nan")))],
            "file:a: vector has length nan, so no direction; give finite numbers, not all 0",
            id="not a number",
        ),
        pytest.param(
            [node("a", vector=(1.0, float("-inf")))],
            "file:a: vector has length inf, so no direction; give finite numbers, not all 0",
            id="infinite",
        ),
        pytest.param([node("a", vector=())], "file:a: vector has length 0.0", id="empty"),
    ],
)
def test_own_vectors_that_make_no_space_are_refused(tmp_path: Path, records: list[SourceRecord], message: str) -> None:
    assert refusal(tmp_path, records).startswith(message)


def test_own_vectors_beside_an_embedder_are_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path, [node("a"), node("b", vector=(1.0,))], embedder=HashEmbedder())
    assert message == "file:b: the source brings its own vectors; give --embedder none, or drop them"


def test_a_rule_that_a_record_breaks_leaves_nothing_published(tmp_path: Path) -> None:
    assert "was already named" in refusal(tmp_path, [node("a"), node("a", "other")])
    assert "there is nothing to index" in refusal(tmp_path, [])
    assert "not there" in refusal(tmp_path, [node("a"), edge("a", "x")])


def test_dangling_edges_are_dropped_when_asked(tmp_path: Path) -> None:
    report = build(tmp_path, [node("a"), edge("a", "x"), edge("a", "a")], skip_dangling_edges=True)
    assert (report.dropped_edges, report.edge_types) == (1, (("Calls", 1),))


def test_a_taken_name_is_refused_before_the_source_is_read(tmp_path: Path) -> None:
    build(tmp_path, RECORDS)
    unread = Records([], fails=AssertionError("the source was read"))
    with pytest.raises(IngestError, match="version 'v1' of shop main exists"):
        build_index(unread, BuildOptions(tmp_path, V1, None), Stages())


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), IngestError("file:7: torn")], ids=["Ctrl-C", "torn"])
def test_an_interrupted_build_leaves_the_version_before(tmp_path: Path, interruption: BaseException) -> None:
    build(tmp_path, RECORDS)
    with pytest.raises(type(interruption)):
        build_index(Records(RECORDS, fails=interruption), BuildOptions(tmp_path, V2, None), Stages())
    store = IndexStore(tmp_path)
    assert (store.versions(V1), store.active(V1)) == (["v1"], "v1")
    build(tmp_path, RECORDS, V2)


def test_an_interruption_while_writing_leaves_no_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(directory: Path, content: object) -> None:
        (directory / "half").write_text("written")
        raise KeyboardInterrupt

    monkeypatch.setattr("groundwire_server.ingest.build.write_index", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path, RECORDS)
    branch = tmp_path / "shop" / "main"
    assert [path.name for path in branch.iterdir() if path.is_dir()] == []
