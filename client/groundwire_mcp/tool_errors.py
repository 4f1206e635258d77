"""The message to a model when a call fails: what was wrong, and what to do."""

from collections.abc import Mapping

from groundwire_client import GroundwireError, InvalidRequestError, OverloadedError


class ToolError(Exception):
    """A failure with a message for the model."""


_REMEDIES: Mapping[str, str] = {
    "VECTORS_MISSING": (
        "an index has no embeddings, or not yet while a folder is indexed first: "
        "use search_type bm25 of search_code, or name one repository"
    ),
    "EMBEDDER_MISMATCH": "no query can be embedded for all that is asked: use search_type bm25 of search_code",
    "LEXICAL_MISSING": "this index has no word statistics: use search_type semantic",
    "INDEX_NOT_FOUND": "the pinned index version is not available: tell the user that the operator must pin another",
    "INDEX_GONE": "the pinned index version was deleted: tell the user that the operator must pin another",
    "INDEX_DAMAGED": "the index cannot be read: tell the user that it must be built again",
    "IDENTITY_REQUIRED": "no token was sent: tell the user to give the agent one for this MCP server",
    "IDENTITY_REFUSED": "the token is not accepted, it may have expired: tell the user to renew it",
    "DEADLINE_EXCEEDED": (
        "it took too long: narrow the call by those of path_prefixes, languages, edge_types, max_depth and max_hops "
        "that the tool has"
    ),
    "AUDIT_UNAVAILABLE": "the server cannot write its audit now: try again in a minute",
    "IDENTITY_UNAVAILABLE": "the server cannot check tokens now: try again in a minute",
    "BACKEND_UNAVAILABLE": "the store of the indexes is out of reach: try again in a minute",
}
_NOT_AVAILABLE = frozenset({"SCOPE_NOT_FOUND", "SCOPE_NOT_GRANTED"})


def not_available(name: str) -> ToolError:
    """The same whether the repository does not exist, is hidden from the caller, or is not one that was allowed."""
    return ToolError(f"repository: {shortened(name)!r} is not available: give a name that list_repositories returns")


def shortened(text: str, most: int = 80) -> str:
    """A text as part of a message."""
    return text if len(text) <= most else f"{text[:most]}..."


def failure_of(error: GroundwireError, name: str) -> ToolError:
    """A failed call about the repository of that name, for the model."""
    if error.reason in _NOT_AVAILABLE:
        return not_available(name)
    if isinstance(error, InvalidRequestError) and error.violations:
        return ToolError("; ".join(f"{broken.field}: {broken.description}" for broken in error.violations))
    if isinstance(error, OverloadedError):
        seconds = 1 if error.retry_after is None else max(1, round(error.retry_after))
        return ToolError(f"the server is busy: try again in {seconds} s")
    if remedy := _REMEDIES.get(error.reason):
        return ToolError(remedy)
    if error.code.name == "UNAVAILABLE":
        return ToolError("the Groundwire server is out of reach: try again; if it stays so, tell the user")
    if error.code.name == "UNAUTHENTICATED":
        return ToolError(_REMEDIES["IDENTITY_REFUSED"])
    suffix = f" (request {error.request_id})" if error.request_id else ""
    return ToolError(f"{error}{suffix}: tell the user, who can find the cause in the server's log")
