"""Several indexes with vectors that cannot be compared, and with none."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from groundwire_index.scope import Scope
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.domain.query.query import HybridParameters, QueryRequest
from groundwire_server.domain.search.search import Retriever
from support.calls import PlainEngine, never_stop
from support.chunks import MakeNode
from support.engines import engine_over
from support.index_writing import IndexContent, write_index

ONE, OTHER = Scope("one", "main", "v1"), Scope("other", "main", "v1")
BOTH = (Scope("o*", "main"),)
QUERY = QueryRequest(
    Scope("", ""),
    AccessContext(),
    "tax",
    datetime(2026, 1, 1, tzinfo=UTC),
    scopes=BOTH,
    hybrid=HybridParameters(diversify_strength=0.5),
)
IndexContentOf = Callable[..., IndexContent]
Put = Callable[..., PlainEngine]


def probe(*components: float) -> str:
    return base64.b64encode(np.asarray(components, dtype="<f4").tobytes()).decode()


@pytest.fixture
def put(tmp_path: Path, index_content: IndexContentOf, make_node: MakeNode) -> Put:
    """`put(vectors, vectors)`: an engine over two indexes of two nodes each, whose vectors a service made."""

    def engine(*vectors: Sequence[tuple[float, ...]] | None, probes: Sequence[str] = ("", "")) -> PlainEngine:
        for scope, vectors_of_scope, probed in zip((ONE, OTHER), vectors, probes, strict=True):
            nodes = [make_node(name, "tax of an invoice", scope=scope) for name in "AB"]
            content = index_content(nodes, vectors=vectors_of_scope, scope=scope)
            if content.vectors is not None:
                space = VectorSpace(
                    "own", "own-1", len((vectors_of_scope or ())[0]), probes=(probed,) if probed else ()
                )
                content = replace(content, vectors=replace(content.vectors, space=space))
            store = IndexStore(tmp_path)
            with store.build(scope) as directory:
                write_index(directory, content)
            store.activate(scope)
        return engine_over(EmbeddedBackend(tmp_path))

    return engine


@pytest.mark.parametrize("others", [None, [(1.0, 0.0), (0.0, 1.0)]])
@pytest.mark.parametrize("turned", [False, True])
def test_matches_by_words_are_not_diversified_by_vectors_that_cannot_be_compared(
    put: Put, others: Sequence[tuple[float, ...]] | None, turned: bool
) -> None:
    vectors = ([(1.0, 0.0, 0.0)] * 2, others)
    engine = put(*(reversed(vectors) if turned else vectors))
    result = engine.query(replace(QUERY, retrievers=(Retriever.BM25_CODE,)), never_stop)
    assert len(result.matches) == 4
    assert result.meta.parameters.diversify_strength is None


def test_vectors_of_one_model_are_compared(put: Put) -> None:
    vectors = [(1.0, 0.0), (0.0, 1.0)]
    engine = put(vectors, vectors, probes=(probe(1.0, 0.0), probe(0.9999, 0.0)))
    result = engine.query(replace(QUERY, query_vector=(1.0, 0.0)), never_stop)
    assert [match.node.id for match in result.matches[:1]] == ["one::main::cs::A"]
    assert result.meta.parameters.diversify_strength == 0.5


def test_vectors_of_a_model_before_and_after_it_changed_are_not_compared(put: Put) -> None:
    vectors = [(1.0, 0.0), (0.0, 1.0)]
    engine = put(vectors, vectors, probes=(probe(1.0, 0.0), probe(0.8, 0.6)))
    with pytest.raises(PreconditionError) as caught:
        engine.query(replace(QUERY, query_vector=(1.0, 0.0)), never_stop)
    assert caught.value.reason is Reason.EMBEDDER_MISMATCH
    assert "index 'other::main::v1' has vectors of an earlier or later model" in caught.value.message
    assert engine.query(replace(QUERY, retrievers=(Retriever.BM25_CODE,)), never_stop).matches
