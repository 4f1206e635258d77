"""The three actions over the embedded backend: what they compose, and in which order they refuse and stop."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Edge, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_index.text.code_tokenizer import tokenize
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import CancelledError, InvalidRequestError, PreconditionError, Reason
from groundwire_server.domain.graph.expansion import Direction, ExpandReason, ExpandRequest
from groundwire_server.domain.graph.paths import PathsRequest
from groundwire_server.domain.response_size import ACTION_BYTES
from groundwire_server.domain.search.search import Rerank, Retriever, RetrieverScore, SearchRequest, SearchType
from groundwire_server.domain.texts.texts import (
    FetchRequest,
    PrioritizationMode,
    RequestedText,
    SkippedNode,
    SkipReason,
)
from groundwire_server.engine.rerankers.rerank import KeywordReranker, RerankCandidate, Rerankers
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc.conversions.expansion import encode_expansion, encode_paths
from groundwire_server.rpc.conversions.texts import encode_fetch
from support.builds import RECORDS, HashEmbedder, build
from support.calls import never_stop
from support.engines import engine_over

SCOPE = Scope("shop", "main", "v1")
PUBLIC = AccessContext()
HIDDEN = NodeAccess(acl_tags=("finance",))

MakeNode = Callable[..., Node]
OpenBackend = Callable[..., AbstractContextManager[EmbeddedBackend]]


@dataclass(frozen=True)
class LengthReranker:
    """Prefers short texts; every second length ties."""

    widen_factor: int

    def scores(self, query: str, candidates: Sequence[RerankCandidate], checkpoint: Checkpoint) -> list[float]:
        return [-float(len(candidate.text) // 2) for candidate in candidates]


SEARCH = SearchRequest(SCOPE, PUBLIC, SearchType.SEMANTIC, "tax id", 3, query_vector=(1.0, 0.0), rerank=Rerank.KEYWORD)

TEXTS = ["", "tax", "id", "tax id", "user", "taxId id id"]


@st.composite
def corpora(draw: st.DrawFn, make_node: MakeNode) -> tuple[list[Node], list[tuple[float, float]]]:
    """One of 40, so that examples can share the indexes of them."""
    number, size = draw(st.integers(0, 1)), draw(st.integers(1, 20))
    chance = Random(100 * size + number)
    nodes = [make_node(f"N{row:02}", chance.choice(TEXTS)) for row in range(size)]
    return nodes, chance.choices([(1.0, 0.0), (1.0, 1.0), (0.0, 1.0)], k=size)


def reranked(candidates: list[tuple[str, float]], scores: list[float], top_k: int) -> list[tuple[str, float, int]]:
    """(id, score, rank) by score; candidates of one score keep their order."""
    order = sorted(range(len(candidates)), key=lambda place: (-scores[place], place))[:top_k]
    return [(candidates[place][0], scores[place], rank) for rank, place in enumerate(order, start=1)]


@given(data=st.data(), top_k=st.integers(1, 6), widen_factor=st.integers(1, 4))
def test_a_keyword_rerank_blends_similarity_and_coverage_over_the_widened_list(
    data: st.DataObject, top_k: int, widen_factor: int, make_node: MakeNode, shared_backend: OpenBackend
) -> None:
    nodes, vectors = data.draw(corpora(make_node))
    texts_by_id = {node.id: node.text for node in nodes}
    request = replace(SEARCH, top_k=top_k)
    with shared_backend(nodes, vectors=vectors) as backend:
        engine = engine_over(backend, rerankers=Rerankers(KeywordReranker(widen_factor)))
        wide = engine.search(replace(request, top_k=top_k * widen_factor, rerank=Rerank.NONE), never_stop).hits
        hits = engine.search(request, never_stop).hits
        explained = engine.search(replace(request, explain=True), never_stop).hits
    wanted = set(tokenize(request.query))
    scores = [
        0.5 * hit.score + 0.5 * len(wanted & set(tokenize(texts_by_id[hit.label.id]))) / len(wanted) for hit in wide
    ]
    by_similarity = [(hit.label.id, hit.score) for hit in wide]
    assert [(hit.label.id, hit.score, hit.rank) for hit in hits] == reranked(by_similarity, scores, top_k)
    places = {hit.label.id: RetrieverScore(Retriever.DENSE, hit.rank, hit.score) for hit in wide}
    assert [hit.retrievers for hit in explained] == [(places[hit.label.id],) for hit in hits]


@pytest.fixture
def backend(make_node: MakeNode, open_backend: OpenBackend) -> Iterator[EmbeddedBackend]:
    """A -> B -> C, A -> D; D is hidden. Texts of 4, 6, 2 and 3 characters and as many tokens."""
    lengths = {"A": 4, "B": 6, "C": 2, "D": 3}
    nodes = [
        make_node(name, name * length, token_count=length, access=HIDDEN if name == "D" else NodeAccess())
        for name, length in lengths.items()
    ]
    a, b, c, d = (node.id for node in nodes)
    edges = [Edge(a, b, "Calls"), Edge(b, c, "ReadsFrom"), Edge(a, d, "Calls")]
    with open_backend(nodes, edges, [(1, 0), (1, 1), (0, 1), (1, 0)]) as opened:
        yield opened


def local(ids: Sequence[str]) -> list[str]:
    return [id_.rpartition("::")[2] for id_ in ids]


def full(*names: str) -> tuple[str, ...]:
    return tuple(f"shop::main::cs::{name}" for name in names)


A, B, C, D = full("A", "B", "C", "D")


def test_a_cross_encoder_reranks_where_one_is_configured(backend: EmbeddedBackend) -> None:
    request = replace(SEARCH, rerank=Rerank.CODEBERT, top_k=2)
    result = engine_over(backend, rerankers=Rerankers(KeywordReranker(widen_factor=1), LengthReranker(2))).search(
        request, never_stop
    )
    assert local([hit.label.id for hit in result.hits]) == ["C", "A"]
    assert [hit.score for hit in result.hits] == [-1.0, -2.0]


def test_a_cross_encoder_that_is_not_configured_is_refused(backend: EmbeddedBackend) -> None:
    with pytest.raises(PreconditionError) as caught:
        engine_over(backend).search(replace(SEARCH, rerank=Rerank.CODEBERT), never_stop)
    assert caught.value.reason is Reason.RERANKER_NOT_CONFIGURED


def test_a_keyword_rerank_of_a_query_without_tokens_keeps_the_order(backend: EmbeddedBackend) -> None:
    result = engine_over(backend).search(replace(SEARCH, query="of the"), never_stop)
    assert local([hit.label.id for hit in result.hits]) == ["A", "B", "C"]


GRAPH: dict[str, Any] = {"scope": SCOPE, "access": PUBLIC, "max_nodes": 10, "edge_allowlist": ("*",)}
EXPAND = ExpandRequest(**GRAPH, seed_ids=(A,), max_depth=5)
PATHS = PathsRequest(**GRAPH, from_ids=(A,), to_ids=(C,), max_hops=5, max_paths=10)


@pytest.mark.parametrize(
    ("allowlist", "reached"),
    [(("*",), ["A", "B", "C"]), (("CALLS",), ["A", "B"]), (("calls", "readsFROM"), ["A", "B", "C"]), (("FK",), ["A"])],
)
def test_edge_types_are_compared_without_case(
    backend: EmbeddedBackend, allowlist: tuple[str, ...], reached: list[str]
) -> None:
    expansion = engine_over(backend).expand(replace(EXPAND, edge_allowlist=allowlist), never_stop)
    assert local([node.id for node in expansion.nodes]) == reached
    assert expansion.index == "v1"


@pytest.mark.parametrize(
    ("direction", "reached"),
    [(Direction.OUTGOING, ["B", "C"]), (Direction.INCOMING, ["B", "A"]), (Direction.BOTH, ["B", "A", "C"])],
)
def test_the_direction_is_followed(backend: EmbeddedBackend, direction: Direction, reached: list[str]) -> None:
    expansion = engine_over(backend).expand(replace(EXPAND, seed_ids=(B,), direction=direction), never_stop)
    assert local([node.id for node in expansion.nodes]) == reached


@pytest.mark.parametrize("seeds", [(D,), full("absent"), full("D", "absent")])
def test_seeds_that_are_hidden_or_absent_look_the_same(backend: EmbeddedBackend, seeds: tuple[str, ...]) -> None:
    expansion = engine_over(backend).expand(replace(EXPAND, seed_ids=seeds), never_stop)
    assert (expansion.seed_ids, expansion.nodes, expansion.edges, expansion.reason) == (
        (),
        (),
        (),
        ExpandReason.NO_SEEDS,
    )
    assert not expansion.truncated


FETCH = FetchRequest(SCOPE, PUBLIC, (A,), (), budget_tokens=100, mode=PrioritizationMode.SEED_FIRST)


def test_texts_come_whole_with_their_place_in_the_graph(backend: EmbeddedBackend) -> None:
    nodes = (RequestedText(B, 1, A), RequestedText(C, 2, B), RequestedText(D, 1, "x"))
    fetched = engine_over(backend).fetch(replace(FETCH, nodes=nodes, budget_tokens=7), never_stop)
    assert [text.requested for text in fetched.texts] == [RequestedText(A, 0, "", is_seed=True), RequestedText(C, 2, B)]
    assert [text.stored.text for text in fetched.texts] == ["AAAA", "CC"]
    assert [text.stored.token_count for text in fetched.texts] == [4, 2]
    assert fetched.skipped == (SkippedNode(B, SkipReason.OVER_BUDGET), SkippedNode(D, SkipReason.UNAVAILABLE))
    assert (fetched.used_tokens, fetched.used_chars, fetched.index) == (6, 6, "v1")


def test_a_budget_of_characters_counts_characters(backend: EmbeddedBackend) -> None:
    request = replace(FETCH, seed_ids=full("A", "B", "C"), budget_tokens=None, max_chars=6)
    fetched = engine_over(backend).fetch(request, never_stop)
    assert local([text.requested.id for text in fetched.texts]) == ["A", "C"]
    assert fetched.used_chars == 6


def test_the_lists_given_are_not_changed_by_what_is_skipped(backend: EmbeddedBackend) -> None:
    request = replace(FETCH, seed_ids=full("D", "A", "absent", "A"))
    fetched = engine_over(backend).fetch(request, never_stop)
    assert local([text.requested.id for text in fetched.texts]) == ["A"]
    assert [skipped.id for skipped in fetched.skipped] == list(full("D", "absent"))
    assert {skipped.reason for skipped in fetched.skipped} == {SkipReason.UNAVAILABLE}


BAD_SCOPE = Scope("", "main")


@pytest.mark.parametrize("action", ["search", "expand", "find_paths", "fetch"])
def test_a_broken_rule_is_told_before_the_scope_is_looked_up(backend: EmbeddedBackend, action: str) -> None:
    requests = {
        "search": replace(SEARCH, scope=Scope("absent", "main"), top_k=0),
        "expand": replace(EXPAND, scope=Scope("absent", "main"), max_nodes=0),
        "find_paths": replace(PATHS, scope=Scope("absent", "main"), max_nodes=0),
        "fetch": replace(FETCH, scope=Scope("absent", "main"), budget_tokens=0),
    }
    with pytest.raises(InvalidRequestError):
        getattr(engine_over(backend), action)(requests[action], never_stop)


@pytest.mark.parametrize("request_", [replace(SEARCH, rerank=Rerank.NONE), SEARCH, EXPAND, PATHS, FETCH])
def test_every_action_can_be_stopped(
    backend: EmbeddedBackend, request_: SearchRequest | ExpandRequest | PathsRequest | FetchRequest
) -> None:
    actions = {SearchRequest: "search", ExpandRequest: "expand", PathsRequest: "find_paths", FetchRequest: "fetch"}
    action = actions[type(request_)]
    calls = 0

    def count() -> None:
        nonlocal calls
        calls += 1

    backend.open(request_.scope, request_.access)  # so that every run finds it open
    getattr(engine_over(backend), action)(request_, count)
    assert calls >= 2
    for last in range(1, calls + 1):
        seen = 0

        def stop(at: int = last) -> None:
            nonlocal seen
            seen += 1
            if seen == at:
                raise CancelledError

        with pytest.raises(CancelledError):
            getattr(engine_over(backend), action)(request_, stop)


def test_no_response_is_larger_than_a_grpc_client_accepts() -> None:
    assert RESPONSE_BYTES == 4 * 1024 * 1024


@given(
    lengths=st.lists(st.integers(0, 400), min_size=1, max_size=12),
    names=st.lists(st.text(alphabet="aü\U0001f600", min_size=1, max_size=40), min_size=12, max_size=12),
    limit=st.integers(0, 3_000),
)
def test_encoded_responses_stay_within_the_byte_limit(
    lengths: list[int], names: list[str], limit: int, make_node: MakeNode, open_backend: OpenBackend
) -> None:
    nodes = [
        make_node(f"{row}{names[row]}", "é" * length, path=names[row], symbol=names[row] * 2, token_count=length)
        for row, length in enumerate(lengths)
    ]
    edges = [Edge(node.id, other.id, "Calls") for node in nodes for other in nodes]
    ids = tuple(node.id for node in nodes)
    seeds, graph = ids[:3], tuple(RequestedText(id_, 1, ids[0]) for id_ in ids[3:])
    # The ids of a request to fetch are told in any case; validation bounds them far below the real limit.
    room_for_ids = sum(len(id_.encode()) + 16 for id_ in ids)
    bound = ACTION_BYTES + room_for_ids + limit
    with open_backend(nodes, edges, lexical=False) as backend:
        engine = engine_over(backend, walk_and_text_bytes=bound)
        fetched = engine.fetch(FetchRequest(SCOPE, PUBLIC, seeds, graph, 1_000_000), never_stop)
        expanded = engine.expand(replace(EXPAND, seed_ids=seeds), never_stop)
        paths = engine.find_paths(replace(PATHS, from_ids=seeds, to_ids=ids), never_stop)
    assert encode_fetch(fetched).ByteSize() <= bound
    assert encode_expansion(expanded).ByteSize() <= bound
    assert encode_paths(paths).ByteSize() <= bound
    assert len(fetched.texts) + len(fetched.skipped) == len(ids)
    assert {skipped.reason for skipped in fetched.skipped} <= {SkipReason.RESPONSE_LIMIT}


def test_a_call_that_waits_for_its_embedder_keeps_nobody_from_computing(tmp_path: Path) -> None:
    embedding_begun, go_on = threading.Event(), threading.Event()

    class SlowEmbedder(HashEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            embedding_begun.set()
            assert go_on.wait(10)
            return super().embed_query(text)

    build(tmp_path, RECORDS, SCOPE, embedder=HashEmbedder())
    engine = engine_over(EmbeddedBackend(tmp_path), [SlowEmbedder()])
    plain = SearchRequest(SCOPE, PUBLIC, SearchType.BM25, "invoice", 3)
    with ThreadPoolExecutor() as pool:
        waits = pool.submit(engine.search, replace(plain, search_type=SearchType.SEMANTIC), never_stop)
        assert embedding_begun.wait(10)
        other = pool.submit(engine.search, plain, never_stop)
        assert other.result(10).hits
        assert not waits.done()
        go_on.set()
        assert waits.result(10).hits
