"""Small indexes for tests, built in milliseconds."""

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from groundwire_index.nodes.node import Edge, Location, Node, NodeAccess, content_hash
from groundwire_index.scope import Scope, canonical_id
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.store.store import IndexStore
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT, tokenize_prose
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from support.index_writing import IndexContent, Lexicon, Tokens, Vectors, write_index

SCOPE = Scope("shop", "main", "v1")
PUBLIC = NodeAccess()
CREATED = datetime(2025, 12, 14, 9, 30, tzinfo=UTC)

DIMENSION_OF_NONE = 3
"""The dimension of an index with vectors none of whose nodes has one: all its texts are blank."""

Vector = Sequence[float]

_MEMORY = Path("/dev/shm")


def _make_node(
    local_id: str,
    text: str = "",
    *,
    access: NodeAccess = PUBLIC,
    token_count: int | None = None,
    path: str = "",
    start_line: int = 1,
    scope: Scope = SCOPE,
    kind: str = "cs",
    **columns: Any,
) -> Node:
    return Node(
        id=canonical_id(scope, kind, local_id),
        kind=kind,
        local_id=local_id,
        text=text,
        token_count=len(text.split()) if token_count is None else token_count,
        location=Location(path, start_line, start_line + 1, content_hash(text)),
        access=access,
        **columns,
    )


def _unit_vectors(vectors: Sequence[Vector | None]) -> Vectors:
    dimension = next((len(vector) for vector in vectors if vector is not None), DIMENSION_OF_NONE)
    rows = np.zeros((len(vectors), dimension), dtype=np.float32)
    for row, vector in enumerate(vectors):
        if vector is not None:
            double = np.asarray(vector, dtype=np.float64)
            rows[row] = double / np.sqrt(np.square(double).sum())
    present = np.asarray([vector is not None for vector in vectors], dtype=np.bool_)
    return Vectors(VectorSpace("", "", dimension), rows, present)


def _lexicon(nodes: Sequence[Node]) -> Lexicon:
    return Lexicon(
        code=Tokens(TOKENIZER_FINGERPRINT, [tokenize(node.text) for node in nodes]),
        prose=Tokens(PROSE_TOKENIZER_FINGERPRINT, [tokenize_prose(node.text) for node in nodes]),
    )


def _index_content(
    nodes: Sequence[Node],
    edges: Sequence[Edge] = (),
    vectors: Sequence[Vector | None] | None = None,
    *,
    scope: Scope = SCOPE,
    lexical: bool = True,
) -> IndexContent:
    order = sorted(range(len(nodes)), key=lambda position: nodes[position].id)
    ordered = [nodes[position] for position in order]
    return IndexContent(
        scope=scope,
        created=CREATED,
        source="test",
        token_counter="words",
        token_counter_fingerprint="words-1",
        nodes=ordered,
        edges=edges,
        vectors=None if vectors is None else _unit_vectors([vectors[position] for position in order]),
        lexicon=_lexicon(ordered) if lexical else Lexicon(),
    )


def _publish(
    data: Path,
    nodes: Sequence[Node],
    edges: Sequence[Edge] = (),
    vectors: Sequence[Vector | None] | None = None,
    *,
    scope: Scope = SCOPE,
    lexical: bool = True,
    activate: bool = True,
) -> None:
    store = IndexStore(data)
    # Surviving a power cut is not what these tests are about, and waiting for the disk is most of a build. No mock: it
    # would note each of a hundred calls.
    with patch("os.fsync", lambda descriptor: None):
        with store.build(scope) as directory:
            write_index(directory, _index_content(nodes, edges, vectors, scope=scope, lexical=lexical))
        if activate:
            store.activate(scope)


@contextmanager
def _scratch() -> Iterator[Path]:
    # Thousands of small indexes are written and dropped, dozens of files each; memory takes a tenth of a disk's time.
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        yield Path(directory)


@contextmanager
def _open_backend(
    nodes: Sequence[Node],
    edges: Sequence[Edge] = (),
    vectors: Sequence[Vector | None] | None = None,
    *,
    lexical: bool = True,
) -> Iterator[EmbeddedBackend]:
    with _scratch() as data:
        _publish(data, nodes, edges, vectors, lexical=lexical, activate=False)
        yield EmbeddedBackend(data)


@pytest.fixture(scope="module")
def shared_backend() -> Iterator[Callable[..., AbstractContextManager[EmbeddedBackend]]]:
    """`open_backend` for tests that only read: equal content is written once, and stays open for a module's tests."""
    opened: dict[bytes, EmbeddedBackend] = {}
    with ExitStack() as stack:

        @contextmanager
        def open_shared(
            nodes: Sequence[Node], edges: Sequence[Edge] = (), vectors: Sequence[Vector | None] | None = None
        ) -> Iterator[EmbeddedBackend]:
            content = pickle.dumps((nodes, edges, vectors))
            if content not in opened:
                opened[content] = stack.enter_context(_open_backend(nodes, edges, vectors))
            yield opened[content]

        yield open_shared


@pytest.fixture(scope="session")
def make_node() -> Callable[..., Node]:
    """`make_node(local_id, text, **columns)`: a node of SCOPE whose tokens are counted as words."""
    return _make_node


@pytest.fixture(scope="session")
def index_content() -> Callable[..., IndexContent]:
    """`index_content(nodes, edges, vectors)`: what `write_index` takes; edges are distinct, a vector may be None."""
    return _index_content


@pytest.fixture(scope="session")
def scratch() -> Callable[[], AbstractContextManager[Path]]:
    """`with scratch() as directory`: an empty directory for one example of a property test."""
    return _scratch


@pytest.fixture(scope="session")
def publish() -> Callable[..., None]:
    """`publish(data, nodes, edges, vectors, scope=...)` publishes and activates a version, not waiting for the disk."""
    return _publish


@pytest.fixture(scope="session")
def open_backend() -> Callable[..., AbstractContextManager[EmbeddedBackend]]:
    """`with open_backend(nodes, edges, vectors) as backend`: a backend over one version, SCOPE, not active."""
    return _open_backend
