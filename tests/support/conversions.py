"""What tests of the wire conversions share: a caller, a time, a scope, strategies, and the way over the wire."""

from datetime import UTC, datetime
from typing import TypeVar

from google.protobuf.message import Message
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Location
from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import InvalidRequestError, Reason
from groundwire_server.domain.search.search import NodesRequest

MessageT = TypeVar("MessageT", bound=Message)

ACCESS = AccessContext(tenant_id="acme", acl_tags_any=frozenset({"finance"}))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SCOPE = scope_pb2.IndexScope(repository="shop", branch="main")

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
name_tuples = st.lists(names, max_size=3).map(tuple)
int32 = st.integers(-(2**31), 2**31 - 1)
counts = st.integers(0, 2**31 - 1)
float32 = st.floats(width=32, allow_nan=False)
scores = st.floats(allow_nan=False)
scopes = st.builds(Scope, names, names, names)
locations = st.builds(Location, names, counts, counts, names)


def over_the_wire(message: MessageT) -> MessageT:
    """The message as the other side parses it."""
    return type(message).FromString(message.SerializeToString())


def scope_message(scope: Scope) -> scope_pb2.IndexScope:
    """A scope as its message."""
    return scope_pb2.IndexScope(repository=scope.repository, branch=scope.branch, active_index=scope.active_index)


def decoded_location(message: retrieval_pb2.SourceLocation) -> Location:
    """A location from its message."""
    return Location(message.path, message.start_line, message.end_line, message.content_hash)


def broken_rules(error: InvalidRequestError) -> list[tuple[str, Reason]]:
    """The field and reason of each violation."""
    return [(violation.field, violation.reason) for violation in error.violations]


def refuse_broken(request: object) -> None:
    """Raises what the engine raises for the rules that a message broke, if there are any."""
    if isinstance(request, NodesRequest) and request.broken:
        raise InvalidRequestError(request.broken)
