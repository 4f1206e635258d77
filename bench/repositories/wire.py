"""Calls a running server for rankings of each kind, and for evidence."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from bench.repositories.figures import DEPTH, Evidence, evidence_of
from bench.repositories.places import Piece
from bench.repositories.tables import Question
from groundwire.tokens import TokenCounter
from groundwire_client import GroundwireClient, IndexScope, SearchType, ids
from groundwire_pipelines import Pipeline

BUDGET_TOKENS = 4_000
_PLAIN_HITS_TOP_K = 100

Ranking = Callable[[str], Sequence[Piece]]
"""Returns the pieces for a question, best first. Raises GroundwireError if it calls a server."""


def rankings(client: GroundwireClient, scope: IndexScope, nodes: Mapping[str, Piece]) -> dict[str, Ranking]:
    """The compared ways to search, by their names in tables; `nodes` are by canonical id."""

    def query(text: str) -> list[Piece]:
        return [nodes[id_] for id_ in ids(client.query(scope, text, top_k=DEPTH))]

    def search(search_type: SearchType.ValueType, text: str) -> list[Piece]:
        return [nodes[id_] for id_ in ids(client.search(scope, text, search_type=search_type, top_k=DEPTH))]

    return {
        "Query": query,
        "semantic": partial(search, SearchType.SEARCH_TYPE_SEMANTIC),
        "bm25": partial(search, SearchType.SEARCH_TYPE_BM25),
        "hybrid": partial(search, SearchType.SEARCH_TYPE_HYBRID),
    }


def measure_evidence(
    client: GroundwireClient, address: str, scope: IndexScope, questions: Sequence[Question]
) -> dict[str, list[Evidence]]:
    """The evidence for each question under the budget: of pipelines, and of Query's texts alone.

    Raises GroundwireError, PipelineError.
    """
    measured = {"plain hits": [_plain_hits(client, scope, question) for question in questions]}
    for name in ("evidence", "quick_evidence"):
        pipeline = Pipeline.load(name, max_context_tokens=BUDGET_TOKENS)
        measured[name] = [_shown(pipeline, address, scope, question) for question in questions]
    return measured


def _shown(pipeline: Pipeline, address: str, scope: IndexScope, question: Question) -> Evidence:
    result = pipeline.run(question.text, server=address, repository=scope.repository, branch=scope.branch)
    shown = result.state.shown
    pieces = [Piece(one.node.location.path, one.node.symbol, one.excerpt.text) for one in shown]
    text_tokens = sum(one.excerpt.source_tokens for one in shown)
    return evidence_of(pieces, TokenCounter().count(result.answer), text_tokens, question)


def _plain_hits(client: GroundwireClient, scope: IndexScope, question: Question) -> Evidence:
    """The best texts that fit the budget, with nothing around them."""
    found = client.query(
        scope, question.text, top_k=_PLAIN_HITS_TOP_K, budget_tokens=BUDGET_TOKENS, include_parents=False
    )
    pieces = [Piece(match.location.path, match.symbol, match.text) for match in found.matches if not match.text_omitted]
    return evidence_of(pieces, found.meta.used_tokens, found.meta.used_tokens, question)
