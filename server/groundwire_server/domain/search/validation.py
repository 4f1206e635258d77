"""The rules of filters, which every request has, of SearchNodes and of ResolveNodes (see `groundwire.v1`)."""

from groundwire.blank_text import is_blank
from groundwire_index.scope import MAX_ID_LENGTH
from groundwire_server.domain.errors import Reason
from groundwire_server.domain.limits import (
    MAX_FILTER_CONDITIONS,
    MAX_FILTER_VALUE_LENGTH,
    MAX_FILTER_VALUES,
    MAX_NAMES,
    MAX_NODES_OF_A_NAME,
    MAX_QUERY_CHARS,
)
from groundwire_server.domain.search.resolution import ResolveRequest
from groundwire_server.domain.search.search import (
    FILTERED_LISTS,
    Filter,
    MetadataCondition,
    Rerank,
    SearchRequest,
    SearchType,
)
from groundwire_server.domain.validation import Violations, check_scopes


def check_search(request: SearchRequest, max_top_k: int) -> None:
    """Checks a search, against the server's largest `top_k`; one without a type has the rules of HYBRID."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    check_filter(request.filter, violations)
    violations.bound_required("top_k", request.top_k, 1, max_top_k)
    is_known = not violations.has("search_type")
    if request.search_type in (SearchType.HYBRID, None) and is_known:
        check_rrf_k(request.rrf_k, violations)
    vector_suffices = request.query_vector and (request.search_type is SearchType.SEMANTIC or not is_known)
    check_text(request.query, violations, required=not vector_suffices or request.rerank is not Rerank.NONE)
    if request.query_vector and request.search_type is SearchType.BM25:
        violations.add("query_vector", Reason.FIELDS_CONFLICT, "has no use in a BM25 search; drop it")
    violations.need_direction("query_vector", request.query_vector)
    if request.rerank is not Rerank.NONE and request.search_type is not SearchType.SEMANTIC and is_known:
        violations.add("rerank", Reason.FIELDS_CONFLICT, "is allowed for search_type SEMANTIC only; drop it")
    violations.raise_any()


def check_resolve(request: ResolveRequest) -> None:
    """Checks names to resolve."""
    violations = Violations(request.broken)
    check_scopes(request, violations)
    if not request.names:
        violations.require("names", "give at least one symbol, place or id")
    violations.bound_count("names", request.names, MAX_NAMES)
    for position, name in enumerate(request.names[:MAX_NAMES]):
        violations.bound_length(f"names[{position}]", "" if is_blank(name) else name, MAX_ID_LENGTH)
    violations.bound_required("max_nodes", request.max_nodes, 1, MAX_NODES_OF_A_NAME)
    check_filter(request.filter, violations)
    violations.raise_any()


def check_rrf_k(rrf_k: int, violations: Violations) -> None:
    """Checks the constant of reciprocal rank fusion. It has no upper bound: a greater one only counts ranks less."""
    if rrf_k < 1:
        violations.add("rrf_k", Reason.VALUE_OUT_OF_RANGE, f"is {rrf_k}; give 1 or more")


def check_text(query: str, violations: Violations, *, required: bool = True) -> None:
    """Checks the text of a query."""
    if len(query) > MAX_QUERY_CHARS:
        violations.bound_length("query", query, MAX_QUERY_CHARS)
    elif required and is_blank(query):
        violations.require("query", "give the text to search for; blank text matches nothing")


def check_filter(filter_: Filter, violations: Violations) -> None:
    """Checks the numbers and lengths of a filter's values."""
    if not filter_.narrows:
        return
    for name in FILTERED_LISTS:
        values: tuple[str, ...] = getattr(filter_, name)
        violations.bound_count(f"filter.{name}", values, MAX_FILTER_VALUES)
        for position, value in enumerate(values[:MAX_FILTER_VALUES]):
            violations.bound_length(f"filter.{name}[{position}]", value, MAX_FILTER_VALUE_LENGTH)
    violations.bound_count("filter.metadata", filter_.metadata, MAX_FILTER_CONDITIONS)
    for condition in filter_.metadata[:MAX_FILTER_CONDITIONS]:
        _check_condition(condition, violations)


def _check_condition(condition: MetadataCondition, violations: Violations) -> None:
    field = f"filter.metadata.{condition.key}"
    if not 0 < len(condition.key) <= MAX_FILTER_VALUE_LENGTH:
        violations.add(
            field,
            Reason.VALUE_OUT_OF_RANGE,
            f"the key has {len(condition.key)} characters; give 1 to {MAX_FILTER_VALUE_LENGTH}",
        )
    violations.bound_count(field, condition.values, MAX_FILTER_VALUES)
    for position, value in enumerate(condition.values[:MAX_FILTER_VALUES]):
        if isinstance(value, str) and len(value) > MAX_FILTER_VALUE_LENGTH:
            violations.bound_length(f"{field}[{position}]", value, MAX_FILTER_VALUE_LENGTH)
