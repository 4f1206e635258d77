"""The parameters of the rules in `ranking`. Loads no numeric library."""

from dataclasses import dataclass

from groundwire_server.domain.query.query import QueryClass, QueryRequest


@dataclass(frozen=True, slots=True)
class Ranking:
    """The weights and factors, each in [0, 1]; see `groundwire.v1.RankingParameters`."""

    file_weight: float
    test_factor: float
    generated_factor: float
    prose_factor: float
    fragment_factor: float
    graph_weight: float
    repeat_factor: float


BY_WORDS = Ranking(
    file_weight=0.3,
    test_factor=0.5,
    generated_factor=0.5,
    prose_factor=0.75,
    fragment_factor=0.85,
    graph_weight=0.3,
    repeat_factor=0.85,
)
"""For questions in words. `docs/adr/0028-ranking-rules-for-repositories.md` says how the numbers were chosen."""
AS_FUSED = Ranking(
    file_weight=0.0,
    test_factor=1.0,
    generated_factor=1.0,
    prose_factor=1.0,
    fragment_factor=1.0,
    graph_weight=0.0,
    repeat_factor=1.0,
)
"""For names, paths and quotations, and for a fusion that the request names: the order is that of the fusion."""
_IN_WORDS = (QueryClass.NATURAL_LANGUAGE, QueryClass.MIXED)


@dataclass(frozen=True, slots=True)
class Traits:
    """The kinds of text that a question is about."""

    is_test: bool = False
    is_generated: bool = False
    is_prose: bool = False


def effective_ranking(request: QueryRequest, query_class: QueryClass) -> Ranking:
    """The parameters of the query's class, or what keeps the order of the fusion that the request names."""
    return AS_FUSED if request.keeps_fused_order or query_class not in _IN_WORDS else BY_WORDS
