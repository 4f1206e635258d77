"""A query's response stays below 4 MiB, whatever its matches hold, and says what was left out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Location, Node
from groundwire_index.scope import Scope
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import Match, QueryResult, ServiceContext, ServiceEdge
from groundwire_server.domain.response_size import of_match, of_string
from groundwire_server.domain.search.candidates import Positions
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.texts.texts import SkipReason
from groundwire_server.engine.query_context import QueryContent, QueryContext
from groundwire_server.engine.stages import Ranked
from groundwire_server.rpc.conversions.query_result import encode_query
from support.conversions import NOW, names
from support.listed_candidates import Place, candidates_of
from support.query_meta import META

NODE = Node("a", "md", "a", "", 1, Location("a.md", 1, 2, "0" * 64))
REQUEST = QueryRequest(
    Scope("shop", "main"), AccessContext(), "q", NOW,
    include_parents=True, include_neighbors=True, expand_graph=True,
)  # fmt: skip


@dataclass(frozen=True)
class Fixed:
    """A snapshot of given nodes: each is contained by the next, the last by the first, and none stands beside one."""

    held: Sequence[Node]
    index: str = "v1"
    parts: Sequence[Snapshot] = ()

    def nodes(self, rows: Positions) -> list[Node]:
        return [self.held[row] for row in rows.tolist()]

    def ids(self, rows: Positions) -> list[str]:
        return [self.held[row].id for row in rows.tolist()]

    def parents(self, rows: Positions) -> list[Positions]:
        return [np.asarray([(row + 1) % len(self.held)]) for row in rows.tolist()]

    def adjacent(self, rows: Positions) -> list[Positions]:
        return [rows[:0] for _ in rows]

    def service_contexts(self, service_names: Sequence[str]) -> tuple[ServiceContext, ...]:
        return tuple(
            ServiceContext(name, ("b" * 400,), (), (ServiceEdge(name, "b" * 400, "Calls", 1),))
            for name in service_names
        )


def filled(nodes: Sequence[Node], request: QueryRequest = REQUEST) -> QueryContent:
    candidates = candidates_of({Retriever.TRIGRAM: [Place(1.0, rank) for rank, _ in enumerate(nodes, start=1)]})
    scores = np.ones(len(nodes))
    ranked = Ranked(candidates, np.arange(len(nodes)), scores, scores)
    return QueryContext(cast(Snapshot, Fixed(nodes)), request).fill(ranked)


def size_of(content: QueryContent) -> int:
    result = QueryResult(content.matches, content.service_context, META, "v1")
    return encode_query(result).ByteSize()


def many(count: int, text: str, metadata: str) -> list[Node]:
    return [
        replace(NODE, id=f"{place:04}", local_id=f"{place:04}", text=text, metadata={"note": metadata})
        for place in range(count)
    ]


@given(
    strings=st.lists(names, min_size=16, max_size=16),
    metadata=st.dictionaries(names, names | st.integers() | st.lists(names, max_size=3), max_size=4),
)
def test_a_nodes_size_is_never_underestimated(strings: list[str], metadata: dict[str, str | int | list[str]]) -> None:
    fields = (
        *("id", "local_id", "kind", "symbol", "signature", "language", "corpus_type", "collection_id", "case_id"),
        *("document_id", "document_version_id", "service_name", "repo_name", "section_path", "author", "channel"),
    )
    values = dict(zip(fields, strings, strict=True))
    node = replace(NODE, **values, metadata=metadata)  # type: ignore[arg-type]
    empty = encode_query(QueryResult((), (), META, "v1")).ByteSize()
    match = Match(node, "text", 2**31 - 1, None)
    size = encode_query(QueryResult((match,), (), META, "v1")).ByteSize() - empty
    assert size <= of_match(node) + of_string("text")


def test_everything_is_there_when_it_fits() -> None:
    content = filled(many(50, "x" * 1_000, ""))
    assert not content.truncated
    assert [match.rank for match in content.matches] == list(range(1, 51))
    assert all(isinstance(match.text, str) and isinstance(match.parents[0].text, str) for match in content.matches)


def test_texts_are_left_out_before_matches() -> None:
    content = filled(many(100, "ü" * 40_000, ""))
    assert size_of(content) < RESPONSE_BYTES
    assert len(content.matches) == 100
    with_text = [isinstance(match.text, str) for match in content.matches]
    assert with_text == sorted(with_text, reverse=True)
    assert 45 <= sum(with_text) < 100


def test_a_budget_holds_whole_texts_in_order_and_passes_over_what_does_not_fit() -> None:
    nodes = [replace(node, token_count=tokens) for node, tokens in zip(many(4, "x", ""), (60, 50, 39, 2), strict=True)]
    content = filled(nodes, replace(REQUEST, budget_tokens=100))
    over = SkipReason.OVER_BUDGET
    assert [match.text for match in content.matches] == ["x", over, "x", over]
    assert content.used_tokens == 99
    assert not content.truncated


def test_a_text_counts_once_however_often_it_is_there() -> None:
    nodes = [replace(node, token_count=50) for node in many(2, "x", "")]
    content = filled(nodes, replace(REQUEST, budget_tokens=100))
    assert [(match.text, match.parents[0].text) for match in content.matches] == [("x", "x")] * 2
    assert content.used_tokens == 100


def test_a_text_without_room_is_told_apart_from_one_over_the_budget() -> None:
    nodes = [replace(node, token_count=1) for node in many(100, "ü" * 40_000, "")]
    content = filled(nodes, replace(REQUEST, budget_tokens=200, include_parents=False))
    texts = [match.text for match in content.matches]
    assert texts.count(SkipReason.RESPONSE_LIMIT) > 0
    assert content.used_tokens == sum(isinstance(text, str) for text in texts)


def test_a_text_without_room_keeps_its_part_of_the_budget() -> None:
    sizes = ((3_000_000, 60), (3_000_000, 30), (1, 20), (1, 10))
    nodes = [
        replace(node, text="x" * size, token_count=tokens)
        for node, (size, tokens) in zip(many(4, "", ""), sizes, strict=True)
    ]
    content = filled(nodes, replace(REQUEST, budget_tokens=100, include_parents=False))
    assert [match.text for match in content.matches][1:] == [SkipReason.RESPONSE_LIMIT, SkipReason.OVER_BUDGET, "x"]
    assert content.used_tokens == 70


def test_matches_are_left_out_when_their_facts_do_not_fit() -> None:
    content = filled(many(100, "text", "m" * 60_000))
    assert content.truncated
    assert size_of(content) < RESPONSE_BYTES
    assert 60 <= len(content.matches) < 100
    assert [match.rank for match in content.matches] == list(range(1, len(content.matches) + 1))


def test_services_that_do_not_fit_are_left_out() -> None:
    nodes = [replace(node, service_name=f"s{node.id}" + "s" * 900) for node in many(2_000, "text", "")]
    content = filled(nodes)
    assert content.truncated
    assert size_of(content) < RESPONSE_BYTES
    assert 0 < len(content.service_context) < 2_000
