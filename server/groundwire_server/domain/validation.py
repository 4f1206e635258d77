"""The rules of the contract (protos/groundwire/v1, seeds 000 and 003), checked before anything is done.

Each function raises InvalidRequestError with every broken rule of its request, the field's proto path first. What a
caller claims to hold is no part of this: where it comes from, and so its rules, are the server's configuration.
"""

import math
from collections.abc import Sequence
from dataclasses import fields

from groundwire_server.domain import limits
from groundwire_server.domain.errors import FieldViolation, InvalidRequestError, Reason
from groundwire_server.domain.expansion import ExpandRequest
from groundwire_server.domain.scope import MAX_ID_LENGTH, Scope, name_problem, version_problem
from groundwire_server.domain.search import Filter, Rerank, SearchRequest, SearchType
from groundwire_server.domain.texts import FetchRequest, GraphNode

MAX_VIOLATIONS = 10
MAX_DESCRIPTION_LENGTH = 300


class Violations:
    """Collects broken rules, so that a caller learns of several at once.

    Errors travel in HTTP/2 trailers, which peers bound to a few kilobytes: the first ten rules are told, each in at
    most 300 characters.
    """

    def __init__(self) -> None:
        self._found: list[FieldViolation] = []

    def add(self, field: str, reason: Reason, description: str) -> None:
        """Notes that `field` breaks a rule."""
        if len(self._found) < MAX_VIOLATIONS:
            self._found.append(FieldViolation(field, reason, description[:MAX_DESCRIPTION_LENGTH]))

    def require(self, field: str, what: str) -> None:
        """Notes that `field` is absent."""
        self.add(field, Reason.FIELD_REQUIRED, f"is required: {what}")

    def bound(self, field: str, value: int, lowest: int, highest: int) -> None:
        """Checks `lowest <= value <= highest`."""
        if not lowest <= value <= highest:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"is {value}; give {lowest} to {highest}")

    def bound_count(self, field: str, values: Sequence[object], highest: int) -> None:
        """Checks that a list is not too long."""
        if len(values) > highest:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"has {len(values)} entries; at most {highest} are allowed")

    def bound_length(self, field: str, value: str, highest: int) -> None:
        """Checks that a string is neither empty nor too long."""
        if not value:
            self.require(field, "an empty string is no value")
        elif len(value) > highest:
            self.add(field, Reason.VALUE_OUT_OF_RANGE, f"has {len(value)} characters; at most {highest} are allowed")

    def raise_any(self) -> None:
        """Raises InvalidRequestError when a rule was broken."""
        if self._found:
            raise InvalidRequestError(tuple(self._found))


def check_scope(scope: Scope, violations: Violations, *, version_required: bool = False) -> None:
    """Checks the names of a scope."""
    for field, name in (("scope.repository", scope.repository), ("scope.branch", scope.branch)):
        problem = name_problem(name)
        if not name:
            violations.require(field, "name the index to ask")
        elif problem:
            violations.add(field, Reason.VALUE_MALFORMED, f"{name!r} {problem}")
    if scope.active_index:
        problem = version_problem(scope.active_index)
        if problem:
            violations.add("scope.active_index", Reason.VALUE_MALFORMED, f"{scope.active_index!r} {problem}")
    elif version_required:
        violations.require("scope.active_index", "name the index version")


def check_search(request: SearchRequest, bounds: limits.Limits) -> SearchType:
    """Checks a search and returns its type, which is then known to be given."""
    violations = Violations()
    check_scope(request.scope, violations)
    _check_filter(request.filter, violations)
    if request.search_type is None:
        violations.require("search_type", "give SEMANTIC, BM25 or HYBRID")
    violations.bound("top_k", request.top_k, 1, bounds.max_top_k)
    violations.bound("rrf_k", request.rrf_k, 1, limits.MAX_RRF_K)
    _check_query(request, bounds, violations)
    _check_query_vector(request, violations)
    if request.rerank is not Rerank.NONE and request.search_type not in (SearchType.SEMANTIC, None):
        violations.add("rerank", Reason.FIELDS_CONFLICT, "is allowed for search_type SEMANTIC only; drop it")
    violations.raise_any()
    assert request.search_type is not None
    return request.search_type


def check_expand(request: ExpandRequest, bounds: limits.Limits) -> int:
    """Checks a walk and returns its depth, which is then known to be given."""
    violations = Violations()
    check_scope(request.scope, violations)
    if not request.seed_ids:
        violations.require("seed_ids", "a walk starts somewhere; give at least one id")
    violations.bound_count("seed_ids", request.seed_ids, limits.MAX_SEEDS)
    _check_ids("seed_ids", request.seed_ids[: limits.MAX_SEEDS], violations)
    if request.max_depth is None:
        violations.require("max_depth", f"give 0 to {limits.MAX_DEPTH}")
    else:
        violations.bound("max_depth", request.max_depth, 0, limits.MAX_DEPTH)
    violations.bound("max_nodes", request.max_nodes, 1, bounds.max_expand_nodes)
    _check_edge_allowlist(request.edge_allowlist, violations)
    violations.raise_any()
    assert request.max_depth is not None
    return request.max_depth


def check_fetch(request: FetchRequest) -> None:
    """Checks a request for texts."""
    violations = Violations()
    check_scope(request.scope, violations)
    count = len(request.seed_ids) + len(request.nodes)
    if count == 0:
        violations.require("seed_ids", "give at least one id in seed_ids or nodes")
    elif count > limits.MAX_FETCH_IDS:
        violations.add("nodes", Reason.VALUE_OUT_OF_RANGE, f"{count} ids with seed_ids; at most {limits.MAX_FETCH_IDS}")
    else:
        _check_fetch_ids(request, violations)
    _check_budget(request, violations)
    violations.raise_any()


def _check_query(request: SearchRequest, bounds: limits.Limits, violations: Violations) -> None:
    needs_text = (
        request.search_type is not SearchType.SEMANTIC or not request.query_vector or request.rerank is not Rerank.NONE
    )
    if len(request.query) > bounds.max_query_chars:
        violations.bound_length("query", request.query, bounds.max_query_chars)
    elif needs_text and not request.query.strip():
        violations.require("query", "say what to look for; blank text matches nothing")


def _check_query_vector(request: SearchRequest, violations: Violations) -> None:
    if not request.query_vector:
        return
    if request.search_type is SearchType.BM25:
        violations.add("query_vector", Reason.FIELDS_CONFLICT, "has no use in a BM25 search; drop it")
    if not all(map(math.isfinite, request.query_vector)):
        violations.add("query_vector", Reason.VALUE_MALFORMED, "holds NaN or an infinity; give finite numbers")
    elif not any(request.query_vector):
        violations.add("query_vector", Reason.VALUE_MALFORMED, "is all zero and so has no direction")


def _check_filter(filter_: Filter, violations: Violations) -> None:
    for field in fields(filter_):
        values: tuple[str, ...] = getattr(filter_, field.name)
        violations.bound_count(f"filter.{field.name}", values, limits.MAX_FILTER_VALUES)
        for position, value in enumerate(values[: limits.MAX_FILTER_VALUES]):
            violations.bound_length(f"filter.{field.name}[{position}]", value, limits.MAX_FILTER_VALUE_LENGTH)


def _check_ids(field: str, ids: Sequence[str], violations: Violations) -> None:
    for position, value in enumerate(ids):
        if not 0 < len(value) <= MAX_ID_LENGTH:
            violations.bound_length(f"{field}[{position}]", value, MAX_ID_LENGTH)


def _check_edge_allowlist(edge_types: Sequence[str], violations: Violations) -> None:
    if not edge_types:
        violations.require("edge_allowlist", 'name edge types, or give exactly ["*"] to follow all')
    violations.bound_count("edge_allowlist", edge_types, limits.MAX_EDGE_TYPES)
    for position, edge_type in enumerate(edge_types[: limits.MAX_EDGE_TYPES]):
        field = f"edge_allowlist[{position}]"
        violations.bound_length(field, edge_type, limits.MAX_ACCESS_VALUE_LENGTH)
        if edge_type == "*" and len(edge_types) > 1:
            violations.add(field, Reason.FIELDS_CONFLICT, '"*" stands alone or not at all; drop it or the others')


def _check_fetch_ids(request: FetchRequest, violations: Violations) -> None:
    _check_ids("seed_ids", request.seed_ids, violations)
    seeds = set(request.seed_ids)
    seen: dict[str, GraphNode] = {}
    for position, node in enumerate(request.nodes):
        field = f"nodes[{position}]"
        if not 0 < len(node.id) <= MAX_ID_LENGTH:
            violations.bound_length(f"{field}.id", node.id, MAX_ID_LENGTH)
        if len(node.parent_id) > MAX_ID_LENGTH:
            violations.bound_length(f"{field}.parent_id", node.parent_id, MAX_ID_LENGTH)
        if not 0 <= node.depth <= limits.MAX_NODE_DEPTH:
            violations.bound(f"{field}.depth", node.depth, 0, limits.MAX_NODE_DEPTH)
        elif node.depth == 0 and node.id not in seeds:
            violations.add(
                f"{field}.depth", Reason.FIELDS_CONFLICT, "is 0, the depth of seeds; name the id in seed_ids"
            )
        if seen.setdefault(node.id, node) != node:
            violations.add(field, Reason.FIELDS_CONFLICT, "repeats an id with another depth or parent; give it once")
    id_bytes = sum(len(seed.encode()) for seed in request.seed_ids) + sum(
        len(node.id.encode()) for node in request.nodes
    )
    if id_bytes > limits.MAX_FETCH_ID_BYTES:
        violations.add(
            "nodes", Reason.VALUE_OUT_OF_RANGE, f"ids hold {id_bytes} bytes; at most {limits.MAX_FETCH_ID_BYTES}"
        )


def _check_budget(request: FetchRequest, violations: Violations) -> None:
    if request.budget_tokens is not None and request.max_chars is not None:
        violations.add("max_chars", Reason.FIELDS_CONFLICT, "excludes budget_tokens; give one of them")
    elif request.budget_tokens is not None:
        violations.bound("budget_tokens", request.budget_tokens, 1, limits.MAX_BUDGET_TOKENS)
    elif request.max_chars is not None:
        violations.bound("max_chars", request.max_chars, 1, limits.MAX_BUDGET_CHARS)
    else:
        violations.require("budget", "give budget_tokens or max_chars")
