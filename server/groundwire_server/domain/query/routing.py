"""Routing: what an operator does with the process, the class of documents or the workflow that a query names."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from groundwire_server.domain.query.query import FusionMode, HybridParameters, QueryRequest
from groundwire_server.domain.query.query_parameters import asked_fusion, given_limits
from groundwire_server.domain.search.search import Filter, MetadataCondition

_NO_HYBRID = HybridParameters()


@dataclass(frozen=True, slots=True)
class RoutingRule:
    """A rule and the profile that it makes of a query.

    `when` has for each field the values that match, and all its fields must match. The query is narrowed to the
    `collections`, takes the parameters and the fusion that it does not give itself, and is answered from the version
    `index` if it pins none. An empty or None field changes nothing.
    """

    name: str
    when: Mapping[str, frozenset[str]]
    collections: tuple[str, ...] = ()
    hybrid: HybridParameters = _NO_HYBRID
    fusion: FusionMode | None = None
    index: str = ""

    def matches(self, request: QueryRequest) -> bool:
        """True if every field of `when` has one of its values in the request, which no version is chosen for twice."""
        if self.index and request.scopes:
            return False
        named = {
            "process": request.process,
            "doc_class": request.doc_class,
            "workflow_id": request.workflow_id,
            "repository": request.scope.repository,
            "branch": request.scope.branch,
        }
        return all(named[name] in values for name, values in self.when.items())


NO_RULE = RoutingRule("", {})
"""Changes nothing."""


def rule_for(request: QueryRequest, rules: Sequence[RoutingRule]) -> RoutingRule:
    """The first rule that matches, or `NO_RULE`."""
    return next((rule for rule in rules if rule.matches(request)), NO_RULE)


def settled_fusion(request: QueryRequest, rule: RoutingRule) -> FusionMode:
    """The fusion that the request asks for, else that of the rule, else ADAPTIVE."""
    named_fusion = asked_fusion(request.fusion, request.hybrid) or asked_fusion(rule.fusion, rule.hybrid)
    return named_fusion or FusionMode.ADAPTIVE


def routed(request: QueryRequest, rule: RoutingRule) -> QueryRequest:
    """The request as the rule changes it. Fields that the request gives stay as they are."""
    if rule is NO_RULE:
        return request
    return replace(
        request,
        scope=replace(request.scope, active_index=request.scope.active_index or rule.index),
        filter=_narrowed(request.filter, rule.collections),
        hybrid=_hybrid(request, rule.hybrid),
    )


def _hybrid(request: QueryRequest, defaults: HybridParameters) -> HybridParameters:
    """The limits that the request gives override a default of `max_candidates`."""
    given = {name: value for name, value in asdict(request.hybrid).items() if value is not None}
    filled = replace(defaults, **given)
    if request.hybrid.max_candidates is not None or filled.max_candidates is None:
        return filled
    limits = given_limits(request.hybrid, request.top_k)
    return replace(filled, max_candidates=max([filled.max_candidates, *limits.values()]))


def _narrowed(filter_: Filter, collections: tuple[str, ...]) -> Filter:
    """The filter within the collections; one that matches nothing where it names others alone."""
    if not collections:
        return filter_
    if not filter_.collection_ids:
        return replace(filter_, collection_ids=collections)
    common = tuple(collection for collection in filter_.collection_ids if collection in collections)
    if common:
        return replace(filter_, collection_ids=common)
    return replace(filter_, collection_ids=(), metadata=(*filter_.metadata, MetadataCondition("collection_id", ())))
