"""What is written is read back, byte for byte the same for the same content, sealed and on disk before it counts."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.files.durable_files import sha256
from groundwire_index.nodes.node import Edge, JsonValue, Location, Node, NodeAccess, content_hash
from groundwire_index.nodes.node_table import NO_TIMESTAMP
from groundwire_index.scope import Scope, canonical_id
from groundwire_index.store.loaded import LoadedIndex
from groundwire_index.store.manifest import CHECKSUM_FILE, MANIFEST_FILE, LexicalSpace, Manifest
from groundwire_index.store.store import IndexStore
from support.index_writing import IndexContent, Lexicon, Tokens, write_index
from support.properties import costly

SCOPE = Scope("shop", "main", "v1")
Scratch = Callable[[], AbstractContextManager[Path]]
CONFIDENCES = [0.25, 0.5, 1.0]

words = st.text(max_size=6)
accesses = st.builds(
    NodeAccess,
    tenant_id=st.sampled_from(["", "t"]),
    acl_tags=st.lists(st.sampled_from("ab"), max_size=2).map(tuple),
    classification_labels=st.lists(words, max_size=2).map(tuple),
    clearance_level=st.integers(0, 2),
)
json_values: st.SearchStrategy[JsonValue] = (
    st.none() | st.booleans() | st.integers() | words | st.lists(words, max_size=2).map(list[JsonValue])
)
metadata = st.dictionaries(words, json_values, max_size=2)
timestamps = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7, minutes=-30))])).filter(
    lambda time: datetime.min.replace(tzinfo=UTC) <= time <= datetime.max.replace(tzinfo=UTC)
)


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    kind, local_id, text = draw(st.sampled_from(["cs", "sql"])), draw(st.text(min_size=1, max_size=8)), draw(words)
    return Node(
        id=canonical_id(SCOPE, kind, local_id),
        kind=kind,
        local_id=local_id,
        text=text,
        token_count=draw(st.integers(0, 2**31 - 1)),
        location=Location(draw(words), draw(st.integers(0, 9)), draw(st.integers(0, 9)), content_hash(text)),
        symbol=draw(words),
        signature=draw(words),
        language=draw(words),
        data_type=draw(words),
        corpus_type=draw(words),
        collection_id=draw(words),
        case_id=draw(words),
        document_id=draw(words),
        document_version_id=draw(words),
        chunk_index=draw(st.integers(0, 2**31 - 1)),
        is_latest=draw(st.booleans()),
        deleted=draw(st.booleans()),
        service_name=draw(words),
        repo_name=draw(words),
        section_path=draw(words),
        author=draw(words),
        channel=draw(words),
        timestamp=draw(st.none() | timestamps),
        source_uri=draw(words),
        context_prefix=draw(words),
        is_test=draw(st.booleans()),
        is_generated=draw(st.booleans()),
        access=draw(accesses),
        metadata=draw(metadata),
    )


node_lists = st.lists(nodes(), unique_by=lambda node: node.id, min_size=1, max_size=6)


@st.composite
def contents(draw: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    chosen = draw(node_lists)
    ends = st.sampled_from([node.id for node in chosen])
    edge_types, lines = st.sampled_from(["Calls", "FK", "ü"]), st.sampled_from([0, 1, 2**31 - 1])
    edges = st.builds(Edge, ends, ends, edge_types, st.sampled_from(CONFIDENCES), lines)
    return chosen, draw(st.lists(edges, unique_by=lambda e: (e.from_id, e.to_id, e.edge_type), max_size=8))


def nodes_of(index: LoadedIndex) -> list[Node]:
    return [index.nodes.node(row, index.policies.of(row)) for row in range(len(index.nodes.ids))]


def edges_of(index: LoadedIndex) -> list[Edge]:
    edges = index.edges
    return [
        Edge(
            index.nodes.ids[edges.from_rows[position]],
            index.nodes.ids[edges.to_rows[position]],
            index.manifest.edge_types[edges.types[position]],
            float(edges.confidences[position]),
            int(edges.lines[position]),
        )
        for position in range(len(edges))
    ]


@costly()
@given(content=contents())
def test_nodes_and_edges_are_read_back(
    content: tuple[list[Node], list[Edge]], index_content: Callable[..., IndexContent], scratch: Scratch
) -> None:
    chosen, edges = content
    with scratch() as directory, patch("os.fsync"):
        write_index(directory, index_content(chosen, edges))
        index = LoadedIndex(directory)
        assert nodes_of(index) == sorted(chosen, key=lambda node: node.id)
        assert sorted(edges_of(index), key=repr) == sorted(edges, key=repr)
        assert index.nodes.numbers["char_count"].tolist() == [len(node.text) for node in nodes_of(index)]
        assert index.scope == SCOPE


def files_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@costly()
@given(content=contents(), data=st.data())
def test_the_same_content_gives_the_same_bytes(
    content: tuple[list[Node], list[Edge]],
    data: st.DataObject,
    index_content: Callable[..., IndexContent],
    scratch: Scratch,
) -> None:
    chosen, edges = content
    vectors = [(1.0, float(position)) for position in range(len(chosen))]
    order = data.draw(st.permutations(range(len(chosen))))
    shuffled = ([chosen[i] for i in order], data.draw(st.permutations(edges)), [vectors[i] for i in order])
    with scratch() as first, scratch() as second, patch("os.fsync"):
        write_index(first, index_content(chosen, edges, vectors))
        write_index(second, index_content(*shuffled))
        assert files_of(first) == files_of(second)


@costly()
@given(content=contents(), rows_a_segment=st.integers(1, 3))
def test_where_segments_end_changes_no_byte(
    content: tuple[list[Node], list[Edge]],
    rows_a_segment: int,
    index_content: Callable[..., IndexContent],
    scratch: Scratch,
) -> None:
    with scratch() as whole, scratch() as pieces, patch("os.fsync"):
        write_index(whole, index_content(*content))
        write_index(pieces, index_content(*content), rows_a_segment)
        assert files_of(whole) == files_of(pieces)


@pytest.fixture
def content(make_node: Callable[..., Node], index_content: Callable[..., IndexContent]) -> IndexContent:
    """Three nodes, one edge and vectors."""
    made = [make_node("a", "get user", path="src/a.cs"), make_node("b", "set user"), make_node("c", "")]
    return index_content(made, [Edge(made[0].id, made[1].id, "Calls")], [(1, 0), (0, 1), None])


def test_the_manifest_seals_every_other_file(tmp_path: Path, content: IndexContent) -> None:
    manifest = write_index(tmp_path, content)
    assert manifest == Manifest.read(tmp_path)
    others = {path.name for path in tmp_path.iterdir()} - {MANIFEST_FILE, CHECKSUM_FILE}
    assert {entry.name for entry in manifest.files} == others
    for entry in manifest.files:
        assert entry.bytes == (tmp_path / entry.name).stat().st_size
        assert entry.sha256 == sha256(tmp_path / entry.name)
    assert (manifest.node_count, manifest.edge_count, manifest.edge_types) == (3, 1, ("Calls",))
    assert manifest.created == content.created


def test_no_field_of_a_node_is_forgotten(tmp_path: Path, index_content: Callable[..., IndexContent]) -> None:
    stated = {field.name: f"the {field.name}" for field in fields(Node) if field.default == ""}
    node = Node(
        id="shop::main::cs::a:::b",
        kind="cs",
        local_id="a:::b",
        text="text",
        token_count=1,
        location=Location("src/a.cs", 3, 4, content_hash("text")),
        chunk_index=5,
        is_latest=False,
        deleted=True,
        timestamp=datetime(2025, 5, 31, tzinfo=UTC),
        is_test=True,
        is_generated=True,
        access=NodeAccess(tenant_id="acme"),
        metadata={"z": [1, None]},
        **stated,
    )
    defaults = Node("", "", "", "", 0, node.location)
    assert [field.name for field in fields(Node) if getattr(node, field.name) == getattr(defaults, field.name)] == [
        "location"
    ]
    write_index(tmp_path, index_content([node]))
    assert nodes_of(LoadedIndex(tmp_path)) == [node]


def test_columns_of_numbers_can_be_read_whole(
    tmp_path: Path, make_node: Callable[..., Node], index_content: Callable[..., IndexContent]
) -> None:
    moment = datetime(2025, 5, 31, 2, 0, 0, 250, tzinfo=timezone(timedelta(hours=2)))
    made = [
        make_node("a", timestamp=moment, deleted=True, is_test=True),
        make_node("b", is_latest=False, is_generated=True, chunk_index=7),
    ]
    write_index(tmp_path, index_content(made))
    table = LoadedIndex(tmp_path).nodes
    assert table.timestamps.tolist() == [int(datetime(2025, 5, 31, tzinfo=UTC).timestamp()) * 10**6 + 250, NO_TIMESTAMP]
    read = table.timestamp(0)
    assert read == moment
    assert read.tzinfo is UTC
    assert {name: flag.tolist() for name, flag in table.flags.items()} == {
        "is_latest": [True, False],
        "deleted": [True, False],
        "is_test": [True, False],
        "is_generated": [False, True],
    }
    assert table.numbers["chunk_index"].tolist() == [0, 7]


def test_an_index_without_vectors_and_lexicon_says_so(tmp_path: Path, content: IndexContent) -> None:
    manifest = write_index(tmp_path, replace(content, vectors=None, lexicon=Lexicon()))
    assert (manifest.vector_space, manifest.code, manifest.prose) == (None, None, None)
    index = LoadedIndex(tmp_path)
    assert (index.vectors, index.lexical, index.prose) == (None, None, None)


def test_code_and_prose_tokens_are_two_tables(tmp_path: Path, content: IndexContent) -> None:
    lexicon = Lexicon(Tokens("code-1", [["getuser", "get"], ["get"], []]), Tokens("prose-1", iter([["user"], [], []])))
    manifest = write_index(tmp_path, replace(content, lexicon=lexicon))
    assert (manifest.code, manifest.prose) == (LexicalSpace("code-1", 2, 3), LexicalSpace("prose-1", 1, 1))
    index = LoadedIndex(tmp_path)
    assert index.lexical is not None
    assert index.prose is not None
    assert [index.lexical.postings(term).rows.tolist() for term in ("get", "user")] == [[0, 1], []]
    assert [index.prose.postings(term).rows.tolist() for term in ("get", "user")] == [[], [0]]
    assert (index.lexical.lengths.tolist(), index.prose.lengths.tolist()) == ([2, 1, 0], [1, 0, 0])


@pytest.mark.parametrize("kept", ["code", "prose"])
def test_an_index_may_have_one_lexical_table(tmp_path: Path, content: IndexContent, kept: str) -> None:
    write_index(tmp_path, replace(content, lexicon=Lexicon(**{kept: Tokens("x", [["get"], [], []])})))
    index = LoadedIndex(tmp_path)
    assert (index.lexical is not None, index.prose is not None) == (kept == "code", kept == "prose")


def test_names_and_metadata_of_nodes_are_indexed(
    tmp_path: Path, make_node: Callable[..., Node], index_content: Callable[..., IndexContent]
) -> None:
    made = [make_node("a", symbol="Shop.getUser", path="src/a.cs"), make_node("b", metadata={"process": ["pay", 7]})]
    write_index(tmp_path, index_content(made))
    index = LoadedIndex(tmp_path)
    names = index.names.names
    assert [names[position] for position in range(len(names))] == ["acs", "getuser", "shopgetuser", "srcacs"]
    assert index.metadata_terms.rows_with("process", 7.0).tolist() == [1]


class DiskLog:
    """Notes what is forced to disk and what is moved, in order; files are told apart by inode."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, int]] = []
        self._sync, self._rename, self._replace = os.fsync, Path.rename, Path.replace
        monkeypatch.setattr(os, "fsync", self.fsync)
        monkeypatch.setattr(Path, "rename", lambda path, target: self.moved(self._rename, path, target))
        monkeypatch.setattr(Path, "replace", lambda path, target: self.moved(self._replace, path, target))

    def fsync(self, descriptor: int) -> None:
        self.events.append(("sync", os.fstat(descriptor).st_ino))
        self._sync(descriptor)

    def moved(self, move: Callable[[Path, Path], Path], path: Path, target: Path) -> Path:
        self.events.append(("move", path.stat().st_ino))
        return move(path, target)


def test_a_version_is_on_disk_before_it_is_moved_into_place(
    tmp_path: Path, content: IndexContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = IndexStore(tmp_path)
    log = DiskLog(monkeypatch)
    with store.build(SCOPE) as directory:
        write_index(directory, content)
        written = [path.stat().st_ino for path in (*directory.iterdir(), directory)]
    branch = store.directory(SCOPE).parent.stat().st_ino
    move = log.events.index(("move", store.directory(SCOPE).stat().st_ino))
    assert {("sync", inode) for inode in written} <= set(log.events[:move])
    assert ("sync", branch) in log.events[move:]


def test_the_pointer_is_on_disk_before_it_is_swapped(
    tmp_path: Path, content: IndexContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = IndexStore(tmp_path)
    with store.build(SCOPE) as directory:
        write_index(directory, content)
    log = DiskLog(monkeypatch)
    store.activate(SCOPE)
    branch = store.directory(SCOPE).parent
    kinds = [kind for kind, _ in log.events]
    assert kinds == ["sync", "move", "sync"]
    assert log.events[0][1] == log.events[1][1]
    assert log.events[2][1] == branch.stat().st_ino
    assert store.active(SCOPE) == "v1"
