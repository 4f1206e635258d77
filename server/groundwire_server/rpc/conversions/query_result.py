"""A query's result as a response."""

import json
from collections.abc import Mapping

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Node
from groundwire_server.domain.query.query import FusionMode, QueryClass
from groundwire_server.domain.query.query_result import (
    AppliedParameters,
    Match,
    ParentText,
    QueryResult,
    RetrieveMeta,
    Routing,
    ServiceContext,
    ServiceEdge,
    StageScores,
)
from groundwire_server.domain.query.ranking_parameters import RankingParameters
from groundwire_server.domain.search.search import Retriever
from groundwire_server.domain.texts.texts import SkipReason
from groundwire_server.rpc.conversions.location import citation, encode_location
from groundwire_server.rpc.conversions.scope import LIFECYCLES, encode_scopes, numbers_of, scope_of
from groundwire_server.rpc.conversions.search import RETRIEVERS, encode_left_out
from groundwire_server.rpc.conversions.shared_fields import shared_fields
from groundwire_server.rpc.conversions.texts import SKIP_REASONS
from groundwire_server.rpc.conversions.timestamps import encode_timestamp

_FUSION_MODES = numbers_of(FusionMode, query_pb2.FusionMode)
_QUERY_CLASSES = numbers_of(QueryClass, query_pb2.QueryClass)
_node_fields = shared_fields(Node, query_pb2.QueryMatch, besides=("text",))
_node_meta_fields = shared_fields(Node, query_pb2.MatchMeta)
_parent_fields = shared_fields(Node, query_pb2.ParentContext, besides=("text",))
_score_fields = shared_fields(StageScores, query_pb2.StageScores)
_service_fields = shared_fields(ServiceContext, query_pb2.ServiceContext)
_edge_fields = shared_fields(ServiceEdge, query_pb2.ServiceEdge)
_meta_fields = shared_fields(RetrieveMeta, query_pb2.RetrieveMeta)
_parameter_fields = shared_fields(AppliedParameters, query_pb2.RetrieveMeta)
_ranking_fields = shared_fields(RankingParameters, query_pb2.RankingParameters)
_routing_fields = shared_fields(Routing, query_pb2.Routing)


def encode_query(result: QueryResult) -> query_pb2.QueryResponse:
    """Matches and neighbours, services, and how the answer was made."""
    scopes = encode_scopes(result.scopes)
    return query_pb2.QueryResponse(
        matches=[_encode_match(match, scopes) for match in result.matches],
        service_context=[_encode_service(service) for service in result.service_context],
        meta=_encode_meta(result.meta),
        index=result.index,
        scopes=scopes.values(),
        left_out=encode_left_out(result.left_out),
    )


def _encode_match(match: Match, scopes: Mapping[str, scope_pb2.IndexScope]) -> query_pb2.QueryMatch:
    node = match.node
    return query_pb2.QueryMatch(
        **_node_fields(node),
        rank=match.rank,
        score=0.0 if match.scores is None else match.scores.final,
        scores=None if match.scores is None else query_pb2.StageScores(**_score_fields(match.scores)),
        text=_text(match.text),
        text_omitted=isinstance(match.text, SkipReason),
        location=encode_location(node.location),
        timestamp=None if node.timestamp is None else encode_timestamp(node.timestamp),
        meta=_encode_match_meta(match),
        omit_reason=_omit_reason(match.text),
        citation=citation(node.id, node.location),
        scope=scope_of(node.id, scopes),
    )


def _encode_match_meta(match: Match) -> query_pb2.MatchMeta:
    node = match.node
    return query_pb2.MatchMeta(
        **_node_meta_fields(node),
        chunk_id=node.local_id,
        parent_ids=match.parent_ids,
        parents=[_encode_parent(parent) for parent in match.parents],
        neighbor=bool(match.neighbor_of),
        neighbor_of=match.neighbor_of,
        metadata_json=json.dumps(dict(node.metadata), ensure_ascii=False, sort_keys=True, separators=(",", ":")),
    )


def _encode_parent(parent: ParentText) -> query_pb2.ParentContext:
    return query_pb2.ParentContext(
        **_parent_fields(parent.node),
        text=_text(parent.text),
        text_omitted=isinstance(parent.text, SkipReason),
        location=encode_location(parent.node.location),
        omit_reason=_omit_reason(parent.text),
        citation=citation(parent.node.id, parent.node.location),
    )


def _text(text: str | SkipReason) -> str:
    return text if isinstance(text, str) else ""


def _omit_reason(text: str | SkipReason) -> retrieval_pb2.SkipReason.ValueType:
    return SKIP_REASONS[text] if isinstance(text, SkipReason) else retrieval_pb2.SKIP_REASON_UNSPECIFIED


def _encode_service(service: ServiceContext) -> query_pb2.ServiceContext:
    edges = [query_pb2.ServiceEdge(**_edge_fields(edge)) for edge in service.edges]
    return query_pb2.ServiceContext(**_service_fields(service), edges=edges)


def _encode_meta(meta: RetrieveMeta) -> query_pb2.RetrieveMeta:
    parameters, lengths, weights = meta.parameters, dict(meta.list_lengths), dict(meta.weights)
    return query_pb2.RetrieveMeta(
        **_meta_fields(meta),
        **_parameter_fields(parameters),
        routing=query_pb2.Routing(**_routing_fields(meta.routing)),
        query_class=_QUERY_CLASSES[meta.query_class],
        fusion=_FUSION_MODES[meta.fusion],
        retrievers=[
            query_pb2.RetrieverUse(retriever=RETRIEVERS[retriever], weight=weights[retriever], candidates=length)
            for retriever, length in meta.list_lengths
        ],
        top_k_effective=parameters.top_k,
        max_candidates_effective=parameters.max_candidates,
        vector_candidates=lengths.get(Retriever.DENSE, 0),
        lifecycle_effective=LIFECYCLES[meta.visibility_effective],
        lexical_index_used=[
            RETRIEVERS[retriever]
            for retriever, length in meta.list_lengths
            if length and retriever is not Retriever.DENSE
        ],
        boosts=meta.boost_rules,
        freshness_half_life_days=parameters.freshness.half_life_days if parameters.freshness else None,
        freshness_weight=parameters.freshness.weight if parameters.freshness else None,
        now=encode_timestamp(meta.now),
        ranking=query_pb2.RankingParameters(
            **_ranking_fields(meta.ranking),
            purpose_factors=[
                query_pb2.PurposeFactor(purpose=purpose, factor=factor)
                for purpose, factor in meta.ranking.purpose_factors.items()
            ],
        ),
    )
