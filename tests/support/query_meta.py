"""How an answer to a query was made, with every field filled."""

from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.query.query import Freshness, FusionMode, QueryClass
from groundwire_server.domain.query.query_result import AppliedParameters, RetrieveMeta, Routing
from groundwire_server.domain.query.ranking_parameters import RankingParameters
from groundwire_server.domain.search.search import Retriever
from support.conversions import NOW

PARAMETERS = AppliedParameters(5, 0.7, 0.15, 100, 101, 0.3, 102, 0.2, 60, Freshness(90.0, 0.1))
META = RetrieveMeta(
    routing=Routing("support", "minilm", "f" * 64, "billing", "manual", ("chat", "wiki"), "w-1"),
    took_ms=1.75,
    query_class=QueryClass.MIXED,
    fusion=FusionMode.WEIGHTED,
    weights=((Retriever.DENSE, 0.7), (Retriever.BM25_CODE, 0.2), (Retriever.TRIGRAM, 0.1)),
    parameters=PARAMETERS,
    ranking=RankingParameters(0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, {"translation": 0.65}),
    matches_returned=1,
    list_lengths=((Retriever.DENSE, 9), (Retriever.BM25_CODE, 8), (Retriever.TRIGRAM, 0)),
    lexical_candidates=7,
    fused_candidates=6,
    deleted_matches_blocked=2**40,
    visibility_effective=Lifecycle.ALL,
    boost_rules=("incident", "procedure"),
    now=NOW,
    exact=True,
    truncated=True,
    used_tokens=2**40,
)
