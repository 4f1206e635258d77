"""Several scopes, which are asked as one: patterns, and the ids of their nodes."""

from collections.abc import Sequence

from groundwire.v1.evidence_pb2 import GatherEvidenceResponse
from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import Retriever, SearchNodesResponse
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import SEPARATOR, Scopes, pinned, scope_name

_SHOWN_NAMES = 5


def is_pattern(scope: IndexScope) -> bool:
    """True for a scope that means all whose names begin as its own do."""
    return "*" in (scope.repository[-1:], scope.branch[-1:])


def scope_of_id(node_id: str) -> str:
    """The name of the scope that a node's id begins with; empty for what is no id."""
    *names, _ = node_id.split(SEPARATOR, 2)
    return scope_name(*names) if len(names) == 2 else ""


def is_id(text: str) -> bool:
    """True for the form of a node's id, `REPOSITORY::BRANCH::KIND::LOCAL`, whether or not there is such a node."""
    return text.count(SEPARATOR) >= 3


def is_id_of(node_id: str, scopes: Scopes) -> bool:
    """True for an id of a node of one of the scopes, whether or not there is such a node."""
    repository, _, branch = scope_of_id(node_id).partition(SEPARATOR)
    return is_of(IndexScope(repository=repository, branch=branch), scopes)


def is_of(scope: IndexScope, scopes: Scopes) -> bool:
    """True for a repository and branch that one of the scopes names, or means as a pattern."""
    several = (scopes,) if isinstance(scopes, IndexScope) else scopes
    return any(_means(named.repository, scope.repository) and _means(named.branch, scope.branch) for named in several)


def _means(name_or_pattern: str, name: str) -> bool:
    if name_or_pattern.endswith("*"):
        return name.startswith(name_or_pattern[:-1])
    return name_or_pattern == name


def left_out_note(response: SearchNodesResponse | QueryResponse | GatherEvidenceResponse) -> str:
    """The indexes of several that were searched without embeddings, as a sentence; empty for none."""
    without = [left.scope for left in response.left_out if left.retriever == Retriever.RETRIEVER_DENSE]
    if not without or not response.scopes:
        return ""
    names = [scope_name(left.repository, left.branch) for left in without]
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return f"searched by words alone, for lack of embeddings: {', '.join(names[:_SHOWN_NAMES])}{more}"


def at_versions(scopes: Scopes, index: str, answered: Sequence[IndexScope]) -> Scopes:
    """The scopes at the versions that a response names: the next call then reads the same."""
    return pinned(scopes, index) if isinstance(scopes, IndexScope) else list(answered)
