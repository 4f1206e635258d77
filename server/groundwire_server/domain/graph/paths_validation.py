"""The rules of FindPaths."""

from groundwire_server.domain import limits
from groundwire_server.domain.graph.expansion_validation import check_edge_allowlist
from groundwire_server.domain.graph.paths import PathsRequest
from groundwire_server.domain.search.filter_validation import check_filter
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
