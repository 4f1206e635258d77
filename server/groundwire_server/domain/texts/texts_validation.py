"""The rules of FetchNodeTexts (see `groundwire.v1.FetchNodeTextsRequest`)."""

from groundwire_index.scope import MAX_ID_LENGTH
from groundwire_server.domain import limits
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.search.validation import check_filter
from groundwire_server.domain.texts.texts import FetchRequest, RequestedText
from groundwire_server.domain.validation import Violations, check_ids, check_scopes


def check_fetch(request: FetchRequest) -> None:
    """Checks a request for texts."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    count = len(request.seed_ids) + len(request.nodes)
    if count == 0:
        violations.require("seed_ids", "give at least one id in seed_ids or nodes")
    elif count > limits.MAX_FETCH_IDS:
        violations.add("nodes", Reason.VALUE_OUT_OF_RANGE, f"{count} ids with seed_ids; at most {limits.MAX_FETCH_IDS}")
    else:
        _check_fetch_ids(request, violations)
    check_filter(request.filter, violations)
    _check_budget(request, violations)
    violations.raise_any()


def _check_fetch_ids(request: FetchRequest, violations: Violations) -> None:
    check_ids("seed_ids", request.seed_ids, violations)
    seeds = set(request.seed_ids)
    seen: dict[str, RequestedText] = {}
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
