"""Which sources a query asks, and what is refused when the index or the server lacks one."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.nodes.node import Node
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.store.store import IndexStore
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import CancelledError, InvalidRequestError, PreconditionError, Reason
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import QueryResult
from groundwire_server.domain.search.search import Retriever, SearchRequest, SearchType
from groundwire_server.execution.call import Checkpoint
from groundwire_server.query_embedding.query_encoders import QueryEncoders
from support.calls import PlainEngine, never_stop
from support.chunks import SCOPE, MakeNode
from support.engines import engine_over
from support.index_writing import IndexContent, Lexicon, write_index

PUBLIC = AccessContext()
QUERY = QueryRequest(SCOPE, PUBLIC, "getUser", datetime(2026, 1, 1, tzinfo=UTC))
WITH_VECTOR = replace(QUERY, query_vector=(1.0, 0.0, 0.0))
LEXICAL = {Retriever.BM25_CODE, Retriever.BM25_PROSE}

IndexContentOf = Callable[..., IndexContent]
Put = Callable[..., PlainEngine]


class FirstAxis:
    """An embedder that puts every text on the first axis."""

    name, fingerprint, dimension = "flat", "flat-1", 3

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray([1.0, 0.0, 0.0], dtype=np.float32)

    def embed_texts(self, texts: object) -> NDArray[np.float32]:
        raise AssertionError("a query embeds only itself")


@pytest.fixture
def put(tmp_path: Path, index_content: IndexContentOf, make_node: MakeNode) -> Put:
    """`put(change, vectors=...)`: an engine over one node, whose content `change` has had a hand in."""

    def put_version(change: Callable[[IndexContent], IndexContent], *, vectors: bool = True) -> PlainEngine:
        nodes: list[Node] = [make_node("A", "getUser", symbol="getUser")]
        content = index_content(nodes, vectors=[(1, 0, 0)] if vectors else None)
        with patch("os.fsync"), IndexStore(tmp_path).build(SCOPE) as directory:
            write_index(directory, change(content))
        return engine_over(EmbeddedBackend(tmp_path), [FirstAxis()])

    return put_version


def whole(content: IndexContent) -> IndexContent:
    return content


def without_words(content: IndexContent) -> IndexContent:
    return replace(content, lexicon=Lexicon())


def of_another_tokeniser(table: str) -> Callable[[IndexContent], IndexContent]:
    """Content of which one table was tokenised by rules that this server does not have."""

    def change(content: IndexContent) -> IndexContent:
        tokens = replace(getattr(content.lexicon, table), tokenizer="other rules")
        return replace(content, lexicon=replace(content.lexicon, **{table: tokens}))

    return change


def without_prose(content: IndexContent) -> IndexContent:
    return replace(content, lexicon=Lexicon(code=content.lexicon.code))


def embedded_by(fingerprint: str) -> Callable[[IndexContent], IndexContent]:
    def change(content: IndexContent) -> IndexContent:
        assert content.vectors is not None
        return replace(content, vectors=replace(content.vectors, space=VectorSpace("flat", fingerprint, 3)))

    return change


def asked_of(result: QueryResult) -> list[Retriever]:
    return [retriever for retriever, _ in result.meta.list_lengths]


def refusal(engine: PlainEngine, query: QueryRequest) -> tuple[Reason, str]:
    with pytest.raises(PreconditionError) as caught:
        engine.query(query, never_stop)
    assert caught.value.metadata["active_index"] == "v1"
    return caught.value.reason, caught.value.message


@pytest.mark.parametrize(
    ("change", "vectors", "query", "expected"),
    [
        (whole, True, WITH_VECTOR, set(Retriever)),
        (whole, False, QUERY, set(Retriever) - {Retriever.DENSE}),
        (without_prose, False, QUERY, {Retriever.BM25_CODE, Retriever.TRIGRAM}),
        (without_words, True, WITH_VECTOR, {Retriever.DENSE, Retriever.TRIGRAM}),
        (without_words, False, QUERY, {Retriever.TRIGRAM}),
    ],
)
def test_who_names_no_source_asks_all_that_the_index_has(
    put: Put,
    change: Callable[[IndexContent], IndexContent],
    vectors: bool,
    query: QueryRequest,
    expected: set[Retriever],
) -> None:
    result = put(change, vectors=vectors).query(query, never_stop)
    assert asked_of(result) == [retriever for retriever in Retriever if retriever in expected]
    assert [match.node.id for match in result.matches] == ["shop::main::cs::A"]


@pytest.mark.parametrize("retriever", Retriever)
def test_a_named_source_is_the_only_one_that_is_asked(put: Put, retriever: Retriever) -> None:
    query = replace(WITH_VECTOR if retriever is Retriever.DENSE else QUERY, retrievers=(retriever,))
    result = put(whole).query(query, never_stop)
    assert result.meta.list_lengths == ((retriever, 1),)
    scores = result.matches[0].scores
    assert scores is not None
    assert [other for other in Retriever if getattr(scores, other.value) is not None] == [retriever]


@pytest.mark.parametrize(
    ("change", "retriever", "reason"),
    [
        (whole, Retriever.DENSE, Reason.VECTORS_MISSING),
        (without_words, Retriever.BM25_CODE, Reason.LEXICAL_MISSING),
        (without_prose, Retriever.BM25_PROSE, Reason.LEXICAL_MISSING),
    ],
)
def test_a_named_source_that_the_index_lacks_is_refused(
    put: Put, change: Callable[[IndexContent], IndexContent], retriever: Retriever, reason: Reason
) -> None:
    refused = refusal(put(change, vectors=False), replace(QUERY, retrievers=(retriever, Retriever.TRIGRAM)))
    assert refused[0] is reason
    assert "ask other retrievers" in refused[1]


@pytest.mark.parametrize(("table", "retriever"), [("code", Retriever.BM25_CODE), ("prose", Retriever.BM25_PROSE)])
def test_words_of_another_tokeniser_are_refused_named_or_not(put: Put, table: str, retriever: Retriever) -> None:
    engine = put(of_another_tokeniser(table), vectors=False)
    for retrievers in ((retriever,), ()):
        refused = refusal(engine, replace(QUERY, retrievers=retrievers))
        assert refused[0] is Reason.LEXICAL_MISSING
        assert "was tokenised by other rules than this server's; build it anew" in refused[1]
    if retriever is Retriever.BM25_CODE:
        search = SearchRequest(SCOPE, PUBLIC, SearchType.BM25, "getUser", 10)
        with pytest.raises(PreconditionError, match="was tokenised by other rules"):
            engine.search(search, never_stop)
    (other,) = LEXICAL - {retriever}
    assert engine.query(replace(QUERY, retrievers=(other,)), never_stop).matches


def test_vectors_without_their_embedder_are_never_left_out_silently(put: Put) -> None:
    engine = put(embedded_by("flat-2"))
    assert refusal(engine, QUERY)[0] is Reason.EMBEDDER_MISMATCH
    assert engine.query(replace(QUERY, retrievers=(Retriever.TRIGRAM,)), never_stop).meta.routing.embedder == ""


def test_the_embedder_of_the_index_embeds_the_query_and_is_named(put: Put) -> None:
    engine = put(embedded_by("flat-1"))
    result = engine.query(QUERY, never_stop)
    assert (result.meta.routing.embedder, result.meta.routing.vector_space_id) == ("flat", "flat-1")
    assert result.matches[0].scores is not None
    assert result.matches[0].scores.dense == 1.0
    others = engine.query(replace(QUERY, retrievers=tuple(LEXICAL)), never_stop).meta.routing
    assert (others.embedder, others.vector_space_id) == ("", "")


def test_a_query_vector_is_never_ignored(put: Put) -> None:
    reason, message = refusal(put(whole, vectors=False), WITH_VECTOR)
    assert reason is Reason.VECTORS_MISSING
    assert "send no query_vector" in message


def test_a_query_vector_of_another_dimension_is_refused(put: Put) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        put(whole).query(replace(QUERY, query_vector=(1.0, 0.0)), never_stop)
    (violation,) = caught.value.violations
    assert (violation.field, violation.reason) == ("query_vector", Reason.VALUE_MALFORMED)


def test_a_query_that_waits_to_be_embedded_asks_whether_anybody_still_waits(put: Put) -> None:
    def waits(_: str, checkpoint: Checkpoint) -> NDArray[np.float32]:
        checkpoint()
        raise AssertionError("it went on for nobody")

    def stop() -> None:
        raise CancelledError

    engine = put(embedded_by("flat-1"))
    with patch.object(QueryEncoders, "find", return_value=waits):
        with pytest.raises(CancelledError):
            engine.query(QUERY, stop)
        with pytest.raises(CancelledError):
            engine.search(SearchRequest(SCOPE, PUBLIC, SearchType.SEMANTIC, "getUser", 10), stop)
