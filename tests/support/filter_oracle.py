"""The definition of a filter, one node at a time."""

from groundwire_index.nodes.node import JsonValue, MetadataScalar, Node
from groundwire_server.domain.search.search import Filter, MetadataCondition

COLUMNS = {
    "kinds": "kind",
    "data_types": "data_type",
    "corpus_types": "corpus_type",
    "languages": "language",
    "collection_ids": "collection_id",
    "document_ids": "document_id",
    "service_names": "service_name",
    "repo_names": "repo_name",
    "case_ids": "case_id",
    "document_version_ids": "document_version_id",
}


def passes(node: Node, filter_: Filter) -> bool:
    """Values of one field are alternatives, fields must all hold, an empty field does not filter."""
    for field, column in COLUMNS.items():
        wanted = getattr(filter_, field)
        if wanted and getattr(node, column) not in wanted:
            return False
    prefixes, tenants = filter_.path_prefixes, filter_.tenant_ids
    return (
        (not prefixes or any(node.location.path.startswith(prefix) for prefix in prefixes))
        and (not tenants or node.access.tenant_id in tenants)
        and filter_.is_latest in (None, node.is_latest)
        and filter_.is_test in (None, node.is_test)
        and filter_.is_generated in (None, node.is_generated)
        and all(meets(node, condition) for condition in filter_.metadata)
    )


def meets(node: Node, condition: MetadataCondition) -> bool:
    if condition.key not in node.metadata:
        return False
    held = node.metadata[condition.key]
    elements = held if isinstance(held, list) else [held]
    return any(same(element, value) for element in elements for value in condition.values)


def same(element: JsonValue, value: MetadataScalar) -> bool:
    """JSON's equality: a number equals a number, and nothing else equals anything of another type."""
    kinds = [
        bool if isinstance(x, bool) else float if isinstance(x, int | float) else type(x) for x in (element, value)
    ]
    return kinds[0] is kinds[1] and element == value
