"""Asks a running server: rankings of each kind, and evidence."""

from collections.abc import Callable, Mapping, Sequence

from bench.repositories.figures import DEPTH, Evidence, evidence_of
from bench.repositories.places import Piece
from bench.repositories.tables import Question
from groundwire.tokens import TokenCounter
from groundwire_client import GroundwireClient, HybridParameters, Scope, SearchType
from groundwire_pipelines import Pipeline

BUDGET_TOKENS = 4_000
_LIST_LIMIT = 100
"""The default for every `top_k` up to 33, so that the first five and ten are what a caller with the defaults gets."""

Ranking = Callable[[str], Sequence[Piece]]
"""The pieces for a question, best first. One that asks a server raises GroundwireError."""


def rankings(client: GroundwireClient, scope: Scope, nodes: Mapping[str, Piece]) -> dict[str, Ranking]:
    """The ways to search that are compared, by the name that tables show; `nodes` are by canonical id."""
    limits = HybridParameters(top_k=DEPTH, vec_limit=_LIST_LIMIT, lex_limit=_LIST_LIMIT)

    def search(search_type: SearchType) -> Ranking:
        return lambda text: pieces(client.search(scope, text, search_type=search_type, top_k=DEPTH).ids)

    def pieces(ids: Sequence[str]) -> list[Piece]:
        return [nodes[id_] for id_ in ids]

    return {
        "Query": lambda text: pieces(client.query(scope, text, hybrid=limits).ids),
        "semantic": search(SearchType.SEMANTIC),
        "bm25": search(SearchType.BM25),
        "hybrid": search(SearchType.HYBRID),
    }


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
