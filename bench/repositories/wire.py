"""Calls a running server for rankings of each kind, and for evidence."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from bench.repositories.figures import DEPTH, Evidence, evidence_of
from bench.repositories.places import Piece, answers
from bench.repositories.tables import Question, Relation
from groundwire.tokens import TokenCounter
from groundwire_client import EvidenceText, GroundwireClient, IndexScope, SearchType, ids

BUDGETS = (2_000, 4_000)
RELATIONS_BUDGET = 8_000
_COUNTER = TokenCounter()

Ranking = Callable[[Question], Sequence[Piece]]
"""Returns the pieces for a question, best first. Raises GroundwireError if it calls a server."""


def rankings(client: GroundwireClient, scope: IndexScope, nodes: Mapping[str, Piece]) -> dict[str, Ranking]:
    """The compared ways to search, by their names in tables; `nodes` are by canonical id."""

    def query(text: str) -> list[Piece]:
        return [nodes[id_] for id_ in ids(client.query(scope, text, top_k=DEPTH))]

    def phrased_query(question: Question) -> list[Piece]:
        return query("\n".join((question.text, *question.phrasings)))

    def search(search_type: SearchType.ValueType, question: Question) -> list[Piece]:
        return [nodes[id_] for id_ in ids(client.search(scope, question.text, search_type=search_type, top_k=DEPTH))]

    return {
        "Query": lambda question: query(question.text),
        "Query, phrased": phrased_query,
        "semantic": partial(search, SearchType.SEARCH_TYPE_SEMANTIC),
        "bm25": partial(search, SearchType.SEARCH_TYPE_BM25),
        "hybrid": partial(search, SearchType.SEARCH_TYPE_HYBRID),
    }


def measure_evidence(
    client: GroundwireClient, scope: IndexScope, questions: Sequence[Question]
) -> dict[str, list[Evidence]]:
    """The evidence for each question within each budget, as people ask and with phrasings where there are any.

    Raises GroundwireError.
    """
    is_phrased = any(question.phrasings for question in questions)
    return {
        f"{budget:,} tokens, {'with phrasings' if phrased else 'as asked'}": [
            _gathered(client, scope, question, budget, question.phrasings if phrased else ()) for question in questions
        ]
        for budget in BUDGETS
        for phrased in ((False, True) if is_phrased else (False,))
    }


def relations_shown(client: GroundwireClient, scope: IndexScope, relations: Sequence[Relation]) -> int:
    """How many relations have their end in the evidence for a question about their start. Raises GroundwireError."""
    shown = 0
    for relation in relations:
        start = relation.start[0]
        question = f"What happens in {start.symbol or start.path} and what does it lead to?"
        evidence = client.evidence(scope, question, RELATIONS_BUDGET)
        shown += any(answers(piece, relation.end) for piece in map(_piece, evidence.texts))
    return shown


def _gathered(
    client: GroundwireClient, scope: IndexScope, question: Question, budget: int, phrasings: Sequence[str]
) -> Evidence:
    evidence = client.evidence(scope, question.text, budget, phrasings=phrasings)
    text_tokens = sum(_COUNTER.count(part.text) for text in evidence.texts for part in text.parts)
    return evidence_of([*map(_piece, evidence.texts)], evidence.used_tokens, text_tokens, question)


def _piece(text: EvidenceText) -> Piece:
    return Piece(text.path, text.symbol, text.text)
