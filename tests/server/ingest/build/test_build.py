"""From records to a published version: what it holds, what is refused, and the same files from the same records."""

import gc
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire.tokens import TokenCounter
from groundwire_index.index_errors import BuildRefusedError
from groundwire_index.nodes.node import NodeAccess, content_hash
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import FileEntry, Manifest
from groundwire_index.store.store import SEGMENTS_FOLDER, IndexStore
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT
from groundwire_ingest.build.build import BuildOptions, BuildReport, build_index
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.records import SkippedFile, SourceNode, SourceRecord, StatedAccess
from groundwire_ingest.tree.source import TreeSource
from support.builds import RECORDS, V1, V2, HashEmbedder, Records, Stages, build, edge, index_of, node, refusal
from support.properties import costly

COPIED_STRINGS = [
    *("symbol", "signature", "language", "data_type", "corpus_type", "collection_id", "case_id", "document_id"),
    *("document_version_id", "service_name", "repo_name", "section_path", "author", "channel", "source_uri"),
    "context_prefix",
]


def files_of(data: Path, scope: Scope) -> tuple[FileEntry, ...]:
    return Manifest.read(IndexStore(data).require(scope)).files


def test_a_data_folder_inside_the_source_tree_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("def total():\n    return 1\n")
    for scope in (V1, V2):
        report = build_index(TreeSource(tmp_path), BuildOptions(tmp_path / "groundwire-data", scope, None), Stages())
        assert (report.node_count, report.skipped) == (2, ())  # the file and its function


def test_garbage_is_collected_again_after_a_build(tmp_path: Path) -> None:
    build(tmp_path, RECORDS)
    assert gc.isenabled()
    refusal(tmp_path / "none", [])
    assert gc.isenabled()


def test_a_build_publishes_activates_and_reports(tmp_path: Path) -> None:
    report = build(tmp_path, RECORDS)
    assert report == BuildReport(
        scope=V1,
        source="given records",
        node_count=3,
        kinds=(("cs", 3),),
        edge_types=(("Calls", 1), ("FK", 1)),
        skipped=(SkippedFile("src/x.bin", "is binary"),),
        unused_patterns=(),
        dropped_edges=0,
        embedded=0,
        reused=0,
        activated=True,
    )
    assert IndexStore(tmp_path).active(V1) == "v1"
    manifest = index_of(tmp_path).manifest
    assert (manifest.source, manifest.node_count, manifest.edge_count) == ("given records", 3, 2)
    assert manifest.vector_space is None
    assert manifest.code is not None
    assert manifest.prose is not None
    assert manifest.code.tokenizer == TOKENIZER_FINGERPRINT
    assert manifest.prose.tokenizer == PROSE_TOKENIZER_FINGERPRINT


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


SEARCHED = [
    node("a", "getUserById", path="src/x.cs", symbol="Invoice.userId", context_prefix="How to payHere"),
    node("b", "nothing"),
]


@pytest.mark.parametrize("term", ["invoic", "src", "userid", "getuserbyid", "payhere"])
def test_symbol_path_context_and_text_are_searched_for_code(tmp_path: Path, term: str) -> None:
    build(tmp_path, SEARCHED)
    lexical = index_of(tmp_path).lexical
    assert lexical is not None
    assert lexical.postings(term).rows.tolist() == [0]


@pytest.mark.parametrize(("term", "rows"), [("invoic", [0]), ("src", [0]), ("pay", [0]), ("user", [0]), ("userid", [])])
def test_symbol_path_context_and_text_are_searched_for_prose(tmp_path: Path, term: str, rows: list[int]) -> None:
    build(tmp_path, SEARCHED)
    prose = index_of(tmp_path).prose
    assert prose is not None
    assert prose.postings(term).rows.tolist() == rows


def test_names_documents_and_services_are_indexed(tmp_path: Path) -> None:
    records: list[SourceRecord] = [
        node("a", path="src/x.cs", symbol="Shop.getUser", chunk_index=1, service_name="auth"),
        node("b", path="src/x.cs", chunk_index=0, service_name="orders", metadata={"process": "pay"}),
        edge("a", "b"),
    ]
    build(tmp_path, records)
    index = index_of(tmp_path)
    assert index.names.shared({"get"}).max() == 1
    assert index.reading_order.before(0).tolist() == [1]
    assert (index.service_edges.from_rows.tolist(), index.service_edges.to_rows.tolist()) == ([0], [1])
    assert index.metadata_terms.rows_with("process", "pay").tolist() == [1]


def test_every_field_of_a_record_reaches_its_node(tmp_path: Path) -> None:
    stated = {name: f"the {name}" for name in COPIED_STRINGS}
    moment = datetime(2025, 5, 31, tzinfo=UTC)
    record = node("a", **stated, chunk_index=3, is_latest=False, deleted=True, timestamp=moment)
    build(tmp_path, [record, node("b")])
    index = index_of(tmp_path)
    full, bare = (index.nodes.node(row, NodeAccess()) for row in (0, 1))
    assert {name: getattr(full, name) for name in COPIED_STRINGS} == stated
    assert (full.chunk_index, full.is_latest, full.deleted, full.timestamp) == (3, False, True, moment)
    assert (bare.repo_name, bare.timestamp) == ("shop", None)


def test_every_stage_is_shown_to_its_end(tmp_path: Path) -> None:
    stages = Stages()
    build_index(Records(RECORDS), BuildOptions(tmp_path, V1, HashEmbedder()), stages)
    file_count = len(IndexStore(tmp_path).manifest(V1).files)
    assert stages.seen == {
        "Reading": (6, 0),
        "Preparing model": (1, 1),
        "Looking up": (3, 3),
        "Embedding": (2, 2),
        "Tokenising": (3, 3),
        "Writing tables": (7, 7),
        "Saving": (file_count, file_count),
        "Activating": (1, 1),
    }
    assert set(stages.units.values()) == {"records", "models", "texts", "nodes", "tables", "files", "versions"}


def test_a_tree_is_read_by_files_and_linked_by_edges(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name, text in {
        "a.py": "import b\n\ndef one():\n    b.two()\n",
        "b.py": "def two(): ...\n",
        "c.png": "",
    }.items():
        (source / name).write_text(text, encoding="utf-8")
    stages = Stages()
    build_index(TreeSource(source), BuildOptions(tmp_path / "data", V1, HashEmbedder()), stages)
    assert (stages.seen["Reading"], stages.units["Reading"]) == ((2, 2), "files")
    done, total = stages.seen["Linking"] or (0, 0)
    assert done > 0
    assert (total, stages.units["Linking"]) == (0, "edges")


def test_an_empty_tree_is_refused_after_its_stages(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    stages = Stages()
    with pytest.raises(IngestError):
        build_index(TreeSource(tmp_path / "source"), BuildOptions(tmp_path / "data", V1, HashEmbedder()), stages)
    assert stages.seen["Reading"] == (0, 0)


class Service(HashEmbedder):
    """Is paid by tokens."""

    host = "127.0.0.1"
    price = 0.15

    def embed_counted(
        self, read: Callable[[int, int], Sequence[str]], tokens: Sequence[int]
    ) -> Iterator[tuple[int, Sequence[str], NDArray[np.float32]]]:
        texts = read(0, len(tokens))
        assert list(tokens) == list(map(TokenCounter().count, texts))
        if texts:
            yield 0, texts, self.embed_texts(texts)

    def probes(self) -> tuple[str, ...]:
        return ()

    def query_embedder(self, probes: tuple[str, ...]) -> None:
        raise AssertionError("no query is asked")


def test_the_tokens_that_a_service_will_get_are_counted_before(tmp_path: Path) -> None:
    texts = ["one two three", "one two three", "four"]
    records = [node(str(number), text) for number, text in enumerate(texts)]
    stages = Stages()
    build_index(Records(records), BuildOptions(tmp_path, V1, Service()), stages)
    tokens = sum(map(TokenCounter().count, texts[1:]))
    assert (stages.seen["Embedding"], stages.prices["Embedding"]) == ((tokens, tokens), 0.15)
    again = Stages()
    build_index(Records(records), BuildOptions(tmp_path, V2, Service()), again)
    assert again.seen["Embedding"] == (0, 0)


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


@costly()
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
    with pytest.raises(BuildRefusedError, match="version 'v1' of shop main exists"):
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
    def interrupted(directory: Path, *_: object) -> None:
        (directory / "half").write_text("written")
        raise KeyboardInterrupt

    monkeypatch.setattr("groundwire_ingest.build.build.seal_index", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path, RECORDS)
    branch = tmp_path / "shop" / "main"
    assert [path.name for path in branch.iterdir() if path.is_dir()] == [SEGMENTS_FOLDER]
