"""The three searches: prefixes, list sizes, filters, what is told and what is refused."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.node import Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.retrievers.semantic import PathLimits
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import CancelledError, InvalidRequestError, PreconditionError, Reason
from groundwire_server.domain.search.search import (
    Filter,
    Retriever,
    RetrieverScore,
    SearchHit,
    SearchPath,
    SearchRequest,
    SearchResult,
    SearchType,
)
from support.calls import PlainEngine, never_stop
from support.engines import engine_over
from support.semantic_paths import PATHS as SEMANTIC_PATHS
from support.semantic_paths import taking

SCOPE = Scope("shop", "main", "v1")
PUBLIC = AccessContext()
HIDDEN = NodeAccess(acl_tags=("finance",))

MakeNode = Callable[..., Node]
OpenBackend = Callable[..., AbstractContextManager[EmbeddedBackend]]

TEXTS = ["", "getUser", "tax", "getUser tax", "tax tax id", "invoice id", "user"]
VECTORS = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, 2.0, 3.0), (-1.0, 0.0, 1.0)]
PATHS = ["", "src/a", "src/b", "db"]


@st.composite
def corpora(draw: st.DrawFn, make_node: MakeNode) -> tuple[list[Node], list[tuple[float, ...] | None]]:
    """Nodes whose texts and vectors repeat, so that ties abound; some hidden, some without a vector.

    There are 36 corpora, so that the tests can share the indexes of them.
    """
    number, size = draw(st.integers(0, 2)), draw(st.integers(1, 12))
    chance = Random(100 * size + number)
    nodes = [
        make_node(
            f"N{row:02}",
            chance.choice(TEXTS),
            path=chance.choice(PATHS),
            access=chance.choice([NodeAccess(), NodeAccess(), HIDDEN]),
        )
        for row in range(size - 1)
    ]
    nodes.append(make_node("Z", "tax"))
    return nodes, [*chance.choices([*VECTORS, None], k=size - 1), VECTORS[0]]


searches = st.builds(
    SearchRequest,
    scope=st.just(SCOPE),
    access=st.just(PUBLIC),
    search_type=st.sampled_from([SearchType.SEMANTIC, SearchType.BM25, SearchType.HYBRID]),
    query=st.sampled_from(["tax", "get user", "id tax tax", "the", "absent", "invoice"]),
    query_vector=st.sampled_from(VECTORS),
    top_k=st.integers(1, 30),
    rrf_k=st.sampled_from([1, 60]),
    filter=st.builds(Filter, path_prefixes=st.lists(st.sampled_from(["src/", "src/a", "none"]), max_size=2).map(tuple)),
    explain=st.booleans(),
)


def ask(engine: PlainEngine, search: SearchRequest) -> SearchResult:
    """The answer; a search for words brings no vector."""
    if search.search_type is SearchType.BM25:
        search = replace(search, query_vector=())
    return engine.search(search, never_stop)


@given(data=st.data(), limits=st.sampled_from(SEMANTIC_PATHS))
def test_hits_for_a_smaller_top_k_are_a_prefix(
    data: st.DataObject, limits: PathLimits, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    nodes, vectors = data.draw(corpora(make_node))
    with shared_backend(nodes, vectors=vectors) as backend, taking(limits):
        engine = engine_over(backend)
        for search_type in (SearchType.SEMANTIC, SearchType.BM25):
            search = replace(data.draw(searches), search_type=search_type, top_k=len(nodes) + 1)
            all_hits = ask(engine, search).hits
            assert len(all_hits) <= len(nodes)
            for top_k in range(1, len(nodes) + 1):
                assert ask(engine, replace(search, top_k=top_k)).hits == all_hits[:top_k]


@given(data=st.data())
def test_a_hybrid_search_fuses_two_lists_of_top_k_each(
    data: st.DataObject, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    """No list is widened: the fused scores are those of the two searches of the same top_k."""
    nodes, vectors = data.draw(corpora(make_node))
    with shared_backend(nodes, vectors=vectors) as backend:
        engine = engine_over(backend)
        for _ in range(3):
            search = replace(data.draw(searches), explain=False)
            lists = {
                alone: [hit.label.id for hit in ask(engine, replace(search, search_type=alone)).hits]
                for alone in (SearchType.SEMANTIC, SearchType.BM25)
            }
            hybrid = ask(engine, replace(search, search_type=SearchType.HYBRID)).hits
            assert [(hit.label.id, hit.score, hit.rank) for hit in hybrid] == fused(lists, search.rrf_k)[: search.top_k]


def fused(lists: dict[SearchType, list[str]], rrf_k: int) -> list[tuple[str, float, int]]:
    semantic_ids, bm25_ids = lists[SearchType.SEMANTIC], lists[SearchType.BM25]

    def place(ids: list[str], id_: str) -> int:
        return ids.index(id_) + 1 if id_ in ids else 10**9

    def score(id_: str) -> float:
        return sum(1.0 / (rrf_k + place(ids, id_)) for ids in (semantic_ids, bm25_ids) if id_ in ids)

    order = sorted(
        {*semantic_ids, *bm25_ids}, key=lambda id_: (-score(id_), place(semantic_ids, id_), place(bm25_ids, id_), id_)
    )
    return [(id_, score(id_), rank) for rank, id_ in enumerate(order, start=1)]


@given(data=st.data())
def test_an_explanation_changes_no_hit_and_tells_each_lists_rank_and_score(
    data: st.DataObject, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    nodes, vectors = data.draw(corpora(make_node))
    texts = {node.id: node.text for node in nodes}
    with shared_backend(nodes, vectors=vectors) as backend:
        engine = engine_over(backend)
        search = data.draw(searches)
        plain = ask(engine, replace(search, explain=False))
        explained = ask(engine, replace(search, explain=True))
        assert plain.debug is None
        assert all((hit.retrievers, hit.matched_tokens) == ((), ()) for hit in plain.hits)
        assert [replace(hit, retrievers=(), matched_tokens=()) for hit in explained.hits] == list(plain.hits)
        places: dict[str, list[RetrieverScore]] = {hit.label.id: [] for hit in explained.hits}
        for alone, retriever in ((SearchType.SEMANTIC, Retriever.DENSE), (SearchType.BM25, Retriever.BM25_CODE)):
            if search.search_type in (alone, SearchType.HYBRID):
                hits = ask(engine, replace(search, search_type=alone, explain=False)).hits
                for hit in hits:
                    if hit.label.id in places:
                        places[hit.label.id].append(RetrieverScore(retriever, hit.rank, hit.score))
        for hit in explained.hits:
            assert list(hit.retrievers) == places[hit.label.id]
            lexical = search.search_type is not SearchType.SEMANTIC
            matched = sorted(set(tokenize(search.query)) & set(tokenize(texts[hit.label.id]))) if lexical else []
            assert list(hit.matched_tokens) == matched


def ids_of(hits: tuple[SearchHit, ...]) -> list[str]:
    return [hit.label.id.rpartition("::")[2] for hit in hits]


@pytest.fixture
def engine(make_node: MakeNode, open_backend: OpenBackend) -> Iterator[PlainEngine]:
    """Four nodes; C is hidden, D has no vector."""
    nodes = [
        make_node("A", "getUser tax", path="src/a"),
        make_node("B", "tax", path="db"),
        make_node("C", "tax", path="src/c", access=HIDDEN),
        make_node("D", "user", path="src/d"),
    ]
    with open_backend(nodes, vectors=[(1, 0), (1, 1), (1, 0), None]) as backend:
        yield engine_over(backend)


SEARCH = SearchRequest(SCOPE, PUBLIC, SearchType.HYBRID, "tax", 10, query_vector=(1.0, 0.0), explain=True)


def test_the_debug_tells_what_was_done(engine: PlainEngine) -> None:
    result = ask(engine, replace(SEARCH, filter=Filter(path_prefixes=("src/",))))
    assert (result.index, result.exact) == ("v1", True)
    debug = result.debug
    assert debug is not None
    assert (debug.path, debug.filtered, debug.visible_count, debug.rrf_k) == (SearchPath.EXACT, True, 2, 60)
    assert (debug.semantic_candidates, debug.bm25_candidates, debug.query_tokens) == (1, 1, ("tax",))
    assert ids_of(result.hits) == ["A"]
    lexical = ask(engine, replace(SEARCH, search_type=SearchType.BM25, query="tax tax of users")).debug
    assert lexical is not None
    assert (lexical.path, lexical.filtered, lexical.rrf_k) == (None, False, 0)
    assert lexical.query_tokens == ("tax", "user")


def test_at_most_sixteen_matched_tokens_are_told(make_node: MakeNode, open_backend: OpenBackend) -> None:
    words = [f"word{letter}x" for letter in "abcdefghijklmnopqrst"]
    with open_backend([make_node("A", " ".join(words))]) as backend:
        search = replace(SEARCH, search_type=SearchType.BM25, query=" ".join(reversed(words)), query_vector=())
        (hit,) = ask(engine_over(backend), search).hits
    assert hit.matched_tokens == tuple(sorted(set(tokenize(" ".join(words)))))[:16]


def test_a_node_without_a_vector_is_found_by_its_words_alone(engine: PlainEngine) -> None:
    assert ids_of(ask(engine, replace(SEARCH, search_type=SearchType.SEMANTIC)).hits) == ["A", "B"]
    hits = ask(engine, replace(SEARCH, query="user")).hits
    assert sorted(ids_of(hits)) == ["A", "B", "D"]


def test_work_stops_between_the_lists(engine: PlainEngine) -> None:
    def stop() -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        engine.search(SEARCH, stop)


class TwoDimensions:
    """An embedder that puts every text on the first axis."""

    name, fingerprint, dimension = "flat", "flat-1", 2

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray([1.0, 0.0], dtype=np.float32)

    def embed_texts(self, texts: object) -> NDArray[np.float32]:
        raise AssertionError("a search embeds only its query")


def refusal(engine: PlainEngine, search: SearchRequest) -> tuple[Reason, dict[str, str]]:
    with pytest.raises(PreconditionError) as caught:
        ask(engine, search)
    return caught.value.reason, dict(caught.value.metadata)


@pytest.mark.parametrize("search_type", [SearchType.SEMANTIC, SearchType.HYBRID])
def test_an_index_without_vectors_refuses_what_needs_them(
    make_node: MakeNode, open_backend: OpenBackend, search_type: SearchType
) -> None:
    with open_backend([make_node("A", "tax")]) as backend:
        engine = engine_over(backend)
        search = replace(SEARCH, search_type=search_type)
        assert refusal(engine, search) == (Reason.VECTORS_MISSING, {"active_index": "v1"})
        assert ids_of(ask(engine, replace(SEARCH, search_type=SearchType.BM25)).hits) == ["A"]
        anyhow = ask(engine, replace(SEARCH, search_type=None, query_vector=()))
        assert (anyhow.search_type, ids_of(anyhow.hits)) == (SearchType.BM25, ["A"])
        assert refusal(engine, replace(SEARCH, search_type=None)) == (Reason.VECTORS_MISSING, {"active_index": "v1"})


def test_what_a_search_without_a_type_means_does_not_depend_on_hidden_vectors(
    make_node: MakeNode, open_backend: OpenBackend
) -> None:
    nodes = [make_node("A", "tax"), make_node("B", "tax", access=HIDDEN)]
    with open_backend(nodes, vectors=[None, (1, 0)]) as backend:
        result = ask(engine_over(backend), replace(SEARCH, search_type=None))
        assert (result.search_type, ids_of(result.hits)) == (SearchType.HYBRID, ["A"])


@pytest.mark.parametrize("search_type", [SearchType.BM25, SearchType.HYBRID])
def test_an_index_without_words_refuses_what_needs_them(
    make_node: MakeNode, open_backend: OpenBackend, search_type: SearchType
) -> None:
    with open_backend([make_node("A", "tax")], vectors=[(1, 0)], lexical=False) as backend:
        engine = engine_over(backend)
        search = replace(SEARCH, search_type=search_type)
        assert refusal(engine, search) == (Reason.LEXICAL_MISSING, {"active_index": "v1"})
        for works in (SearchType.SEMANTIC, None):
            result = ask(engine, replace(SEARCH, search_type=works))
            assert (result.search_type, ids_of(result.hits)) == (SearchType.SEMANTIC, ["A"])


def test_vectors_that_the_source_brought_need_a_query_vector(engine: PlainEngine) -> None:
    reason, metadata = refusal(engine, replace(SEARCH, query_vector=()))
    assert reason is Reason.EMBEDDER_MISMATCH
    assert metadata == {"active_index": "v1", "embedder": "", "fingerprint": ""}


def test_a_query_vector_of_another_dimension_is_refused(engine: PlainEngine) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        ask(engine, replace(SEARCH, query_vector=(1.0, 0.0, 0.0)))
    (violation,) = caught.value.violations
    assert (violation.field, violation.reason) == ("query_vector", Reason.VALUE_MALFORMED)
    assert "has 3 components; index 'v1' has vectors of 2" in violation.description


@pytest.mark.parametrize("fingerprint", ["flat-1", "flat-2"])
def test_only_the_embedder_of_the_index_embeds_a_query(
    make_node: MakeNode, open_backend: OpenBackend, fingerprint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = TwoDimensions()
    space = VectorSpace("flat", fingerprint, 2)
    with open_backend([make_node("A"), make_node("B")], vectors=[(0, 1), (1, 0)]) as backend:
        object.__setattr__(backend.open(SCOPE, PUBLIC).view.index.manifest, "vector_space", space)
        engine = engine_over(backend, [embedder])
        search = replace(SEARCH, search_type=SearchType.SEMANTIC, query_vector=())
        if fingerprint == embedder.fingerprint:
            assert ids_of(ask(engine, search).hits) == ["B", "A"]
        else:
            reason, metadata = refusal(engine, search)
            assert reason is Reason.EMBEDDER_MISMATCH
            assert metadata == {"active_index": "v1", "embedder": "flat", "fingerprint": "flat-2"}
