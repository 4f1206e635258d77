"""Asks a running server: rankings of each kind, and evidence."""

from collections.abc import Callable, Mapping, Sequence

from bench.repositories.figures import DEPTH, Evidence, Found, evidence_of, found_by
from bench.repositories.places import Piece
from bench.repositories.tables import Question
from groundwire.tokens import TokenCounter
from groundwire_client import GroundwireClient, HybridParameters, Scope, SearchType
from groundwire_pipelines import Pipeline

BUDGET_TOKENS = 4_000
_LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first five and ten are what a caller with the defaults gets."""

Ranking = Callable[[str], Sequence[str]]
"""The canonical ids for a question, best first."""


def rankings(client: GroundwireClient, scope: Scope) -> dict[str, Ranking]:
    """The ways to search that are compared, by the name that tables show."""
    limits = HybridParameters(top_k=DEPTH, vec_limit=_LIST_LIMIT, lex_limit=_LIST_LIMIT)

    def search(search_type: SearchType) -> Ranking:
        return lambda text: client.search(scope, text, search_type=search_type, top_k=DEPTH).ids

    return {
        "Query": lambda text: client.query(scope, text, hybrid=limits).ids,
        "semantic": search(SearchType.SEMANTIC),
        "bm25": search(SearchType.BM25),
        "hybrid": search(SearchType.HYBRID),
    }


def measure_ranking(ranking: Ranking, nodes: Mapping[str, Piece], questions: Sequence[Question]) -> list[Found]:
    """The figures of each question. Raises GroundwireError."""
    return [found_by([nodes[id_] for id_ in ranking(question.text)], question) for question in questions]


def measure_evidence(address: str, scope: Scope, questions: Sequence[Question]) -> list[Evidence]:
    """What the pipeline `evidence` shows for each question under the budget. Raises PipelineError."""
    pipeline = Pipeline.load("evidence", max_context_tokens=BUDGET_TOKENS)
    counter = TokenCounter()
    measured = []
    for question in questions:
        result = pipeline.run(question.text, server=address, repository=scope.repository, branch=scope.branch)
        pieces = [Piece(text.location.path, text.symbol, text.text) for text in result.state.node_texts]
        measured.append(evidence_of(pieces, counter.count(result.answer), question))
    return measured
