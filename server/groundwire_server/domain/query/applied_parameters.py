"""The parameters of a query that had a part in its answer, for the caller."""

from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_server.domain.query.query import Freshness, FusionMode
from groundwire_server.domain.query.query_parameters import EffectiveParameters
from groundwire_server.domain.search.search import LEXICAL_RETRIEVERS, Retriever


@dataclass(frozen=True, slots=True)
class AppliedParameters:
    """Each parameter that could change the answer; None for one that could not."""

    top_k: int
    alpha: float | None = None
    min_sim: float | None = None
    vec_limit: int | None = None
    lex_limit: int | None = None
    trgm_limit: float | None = None
    max_candidates: int | None = None
    diversify_strength: float | None = None
    rrf_k: int | None = None
    freshness: Freshness | None = None


def applied_parameters(
    parameters: EffectiveParameters,
    fusion: FusionMode,
    retrievers: Sequence[Retriever],
    *,
    diversified: bool,
    freshened: bool,
) -> AppliedParameters:
    """The parameters that applied, by the `retrievers` used; `diversified` and `freshened` are stages that applied."""
    dense, trigram = Retriever.DENSE in retrievers, Retriever.TRIGRAM in retrievers
    lexical = any(retriever in retrievers for retriever in LEXICAL_RETRIEVERS)
    weighted = fusion is FusionMode.WEIGHTED and dense and lexical
    return AppliedParameters(
        top_k=parameters.top_k,
        alpha=parameters.alpha if weighted else None,
        min_sim=parameters.min_sim if dense else None,
        vec_limit=parameters.vec_limit if dense else None,
        lex_limit=parameters.lex_limit if lexical else None,
        trgm_limit=parameters.trgm_limit if trigram else None,
        max_candidates=parameters.max_candidates,
        diversify_strength=parameters.diversify_strength if diversified else None,
        rrf_k=parameters.rrf_k if fusion is FusionMode.RRF else None,
        freshness=parameters.freshness if freshened else None,
    )
