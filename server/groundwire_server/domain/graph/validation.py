"""The rules of ExpandDependencyTree and FindPaths."""

from collections.abc import Sequence

from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_server.domain import limits
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.graph.expansion import ExpandRequest
from groundwire_server.domain.graph.paths import PathsRequest
from groundwire_server.domain.search.validation import check_filter
from groundwire_server.domain.validation import Violations, check_ids, check_scope


def check_paths(request: PathsRequest) -> None:
    """Checks a search for paths. Raises InvalidRequestError with every broken rule."""
    violations = Violations()
    check_scope(request.scope, violations)
    for field, ids, what in (
        ("from_ids", request.from_ids, "a path needs a start; give at least one id"),
        ("to_ids", request.to_ids, "a path needs an end; give at least one id"),
    ):
        if not ids:
            violations.require(field, what)
        violations.bound_count(field, ids, limits.MAX_PATH_ENDS)
        check_ids(field, ids[: limits.MAX_PATH_ENDS], violations)
    violations.bound("max_hops", request.max_hops, 1, limits.MAX_HOPS)
    violations.bound("max_paths", request.max_paths, 1, limits.MAX_PATHS)
    violations.bound("max_nodes", request.max_nodes, 1, limits.MAX_EXPAND_NODES)
    check_filter(request.filter, violations)
    violations.bound_share("min_confidence", request.min_confidence)
    check_edge_allowlist(request.edge_allowlist, violations)
    violations.raise_any()


def check_expand(request: ExpandRequest) -> int:
    """Checks a walk and returns its depth, which is then known to be given."""
    violations = Violations()
    check_scope(request.scope, violations)
    if not request.seed_ids:
        violations.require("seed_ids", "a walk needs a start; give at least one id")
    violations.bound_count("seed_ids", request.seed_ids, limits.MAX_SEEDS)
    check_ids("seed_ids", request.seed_ids[: limits.MAX_SEEDS], violations)
    if request.max_depth is None:
        violations.require("max_depth", f"give 0 to {limits.MAX_DEPTH}")
    else:
        violations.bound("max_depth", request.max_depth, 0, limits.MAX_DEPTH)
    violations.bound("max_nodes", request.max_nodes, 1, limits.MAX_EXPAND_NODES)
    check_filter(request.filter, violations)
    violations.bound_share("min_confidence", request.min_confidence)
    check_edge_allowlist(request.edge_allowlist, violations)
    violations.raise_any()
    assert request.max_depth is not None
    return request.max_depth


def check_edge_allowlist(edge_types: Sequence[str], violations: Violations) -> None:
    """Checks which edge types to follow."""
    if not edge_types:
        violations.require("edge_allowlist", 'name edge types, or give exactly ["*"] to follow all')
    violations.bound_count("edge_allowlist", edge_types, limits.MAX_EDGE_TYPES)
    for position, edge_type in enumerate(edge_types[: limits.MAX_EDGE_TYPES]):
        field = f"edge_allowlist[{position}]"
        violations.bound_length(field, edge_type, MAX_ACCESS_VALUE_LENGTH)
        if edge_type == "*" and len(edge_types) > 1:
            violations.add(field, Reason.FIELDS_CONFLICT, '"*" must be the only entry; drop it or the others')
