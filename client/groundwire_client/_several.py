"""Several scopes, which are asked as one: patterns, and calls about one scope for nodes of all of them."""

from collections.abc import Iterable

from groundwire.v1.retrieval_pb2 import NodeText, SkippedNode, SkipReason
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import SEPARATOR, Scopes, scope_name


def is_pattern(scope: IndexScope) -> bool:
    """True for a scope that means all whose names begin as its own do."""
    return "*" in (scope.repository[-1:], scope.branch[-1:])


def scope_of_id(node_id: str) -> str:
    """The name of the scope that a node's id begins with; empty for what is no id."""
    *names, _ = node_id.split(SEPARATOR, 2)
    return scope_name(*names) if len(names) == 2 else ""


def by_scope(scopes: Scopes, node_ids: Iterable[str]) -> list[tuple[IndexScope, list[str]]]:
    """Each scope with its nodes, for calls about one scope. Raises ValueError for a node of none of several scopes."""
    if isinstance(scopes, IndexScope):
        return [(scopes, list(node_ids))]
    parts = {scope_name(own.repository, own.branch): (own, list[str]()) for own in scopes}
    for node_id in node_ids:
        if scope_of_id(node_id) not in parts:
            raise ValueError(f"the node {node_id!r} is in none of the scopes that were asked: {', '.join(parts)}")
        parts[scope_of_id(node_id)][1].append(node_id)
    return [part for part in parts.values() if part[1]]


def packed(
    texts: Iterable[NodeText], budget: int, *, in_tokens: bool = True
) -> tuple[list[NodeText], list[SkippedNode]]:
    """Packs texts that fetches in several scopes returned into one budget: in order, each whole; and names the others.

    Texts that a fetch has left out already stay out, also where one fetch over all would have had room for them.
    """
    kept, skipped = list[NodeText](), list[SkippedNode]()
    for text in texts:
        size = text.token_count if in_tokens else len(text.text)
        if size <= budget:
            kept.append(text)
            budget -= size
        else:
            skipped.append(SkippedNode(id=text.id, reason=SkipReason.SKIP_REASON_OVER_BUDGET))
    return kept, skipped
