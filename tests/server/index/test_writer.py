"""What is written is read back, byte for byte the same for the same content, sealed and on disk before it counts."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.domain.access import NodeAccess
from groundwire_server.domain.nodes import Edge, JsonValue, Location, Node, content_hash
from groundwire_server.domain.scope import Scope, canonical_id
from groundwire_server.index.files import sha256
from groundwire_server.index.loaded import LoadedIndex
from groundwire_server.index.manifest import CHECKSUM_FILE, MANIFEST_FILE, Manifest
from groundwire_server.index.store import IndexStore
from groundwire_server.index.writer import IndexContent, write_index

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
        document_id=draw(words),
        access=draw(accesses),
        metadata=draw(metadata),
    )


node_lists = st.lists(nodes(), unique_by=lambda node: node.id, min_size=1, max_size=6)


@st.composite
def contents(draw: st.DrawFn) -> tuple[list[Node], list[Edge]]:
    chosen = draw(node_lists)
    ends = st.sampled_from([node.id for node in chosen])
    edges = st.builds(Edge, ends, ends, st.sampled_from(["Calls", "FK", "ü"]), st.sampled_from(CONFIDENCES))
    return chosen, draw(st.lists(edges, unique_by=lambda e: (e.from_id, e.to_id, e.edge_type), max_size=8))


def nodes_of(index: LoadedIndex) -> list[Node]:
    table = index.nodes
    return [
        Node(
            id=table.ids[row],
            kind=table.categories["kind"][row],
            local_id=table.ids[row].split("::", 3)[3],
            text=table.texts[row],
            token_count=int(table.numbers["token_count"][row]),
            location=table.location(row),
            symbol=table.symbols[row],
            signature=table.signatures[row],
            language=table.categories["language"][row],
            data_type=table.categories["data_type"][row],
            corpus_type=table.categories["corpus_type"][row],
            collection_id=table.categories["collection_id"][row],
            document_id=table.categories["document_id"][row],
            access=index.policies[int(index.policy_codes[row])],
            metadata=table.metadata(row),
        )
        for row in range(len(table.ids))
    ]


def edges_of(index: LoadedIndex) -> list[Edge]:
    owners, ends = index.outgoing.all_ends()
    return [
        Edge(
            index.nodes.ids[owner],
            index.nodes.ids[end],
            index.manifest.edge_types[int(index.outgoing.types[position])],
            float(index.outgoing.confidences[position]),
        )
        for position, (owner, end) in enumerate(zip(owners.tolist(), ends.tolist(), strict=True))
    ]


@settings(max_examples=60)
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


@settings(max_examples=40)
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


def test_an_index_without_vectors_and_lexicon_says_so(tmp_path: Path, content: IndexContent) -> None:
    manifest = write_index(tmp_path, replace(content, vectors=None, lexicon=None))
    assert (manifest.vector_space, manifest.tokenizer, manifest.term_count) == (None, "", 0)
    index = LoadedIndex(tmp_path)
    assert index.vectors is None
    assert index.lexical is None


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
