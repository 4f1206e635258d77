"""The rules of ExpandDependencyTree and FindPaths."""

from collections.abc import Sequence

from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_server.domain import limits
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.graph.expansion import ExpandRequest, GraphRequest
from groundwire_server.domain.graph.paths import PathsRequest
from groundwire_server.domain.search.validation import check_filter
from groundwire_server.domain.validation import Violations, check_ids, check_scopes


def check_paths(request: PathsRequest) -> None:
    """Checks a search for paths. Raises InvalidRequestError with every broken rule."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    _check_ends("from_ids", request.from_ids, "a path needs a start", limits.MAX_PATH_ENDS, violations)
    _check_ends("to_ids", request.to_ids, "a path needs an end", limits.MAX_PATH_ENDS, violations)
    violations.bound_required("max_hops", request.max_hops, 1, limits.MAX_HOPS)
    violations.bound_required("max_paths", request.max_paths, 1, limits.MAX_PATHS)
    _check_edges(request, violations)
    violations.raise_any()


def check_expand(request: ExpandRequest) -> int:
    """Checks a walk and returns its depth, which is then known to be given."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    _check_ends("seed_ids", request.seed_ids, "a walk needs a start", limits.MAX_SEEDS, violations)
    if request.max_depth is None:
        violations.require("max_depth", f"give 0 to {limits.MAX_DEPTH}")
    else:
        violations.bound("max_depth", request.max_depth, 0, limits.MAX_DEPTH)
    _check_edges(request, violations)
    violations.raise_any()
    assert request.max_depth is not None
    return request.max_depth


def _check_ends(field: str, ids: Sequence[str], why: str, most: int, violations: Violations) -> None:
    if not ids:
        violations.require(field, f"{why}; give at least one id")
    violations.bound_count(field, ids, most)
    check_ids(field, ids[:most], violations)


def _check_edges(request: GraphRequest, violations: Violations) -> None:
    violations.bound_required("max_nodes", request.max_nodes, 1, limits.MAX_EXPAND_NODES)
    check_filter(request.filter, violations)
    violations.bound_share("min_confidence", request.min_confidence)
    edge_types = request.edge_allowlist
    if not edge_types:
        violations.require("edge_allowlist", 'name edge types, or give exactly ["*"] to follow all')
    violations.bound_count("edge_allowlist", edge_types, limits.MAX_EDGE_TYPES)
    for position, edge_type in enumerate(edge_types[: limits.MAX_EDGE_TYPES]):
        field = f"edge_allowlist[{position}]"
        violations.bound_length(field, edge_type, MAX_ACCESS_VALUE_LENGTH)
        if edge_type == "*" and len(edge_types) > 1:
            violations.add(field, Reason.FIELDS_CONFLICT, '"*" must be the only entry; drop it or the others')
