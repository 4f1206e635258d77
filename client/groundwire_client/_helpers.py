"""Helpers for the generated messages: ids of responses, scopes, names of enum values, times."""

from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import SearchNodesResponse
from groundwire.v1.scope_pb2 import IndexScope

if TYPE_CHECKING:  # generic to type checkers alone
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper as EnumTypeWrapper  # pyright: ignore[reportPrivateUsage]

SEPARATOR = "::"
"""Between the parts of ids and of names of scopes; no part holds it."""

_Value = TypeVar("_Value", bound=int)


def ids(response: SearchNodesResponse | QueryResponse) -> list[str]:
    """The ids of hits, or of matches without their neighbours, best first: the seeds of a walk or a fetch."""
    if isinstance(response, SearchNodesResponse):
        return [hit.id for hit in response.hits]
    return [match.id for match in response.matches if not match.meta.neighbor]


def pinned(scope: IndexScope, index: str) -> IndexScope:
    """The scope at one index version: with the `index` of a response, the next call reads the same snapshot."""
    return IndexScope(repository=scope.repository, branch=scope.branch, active_index=index)


def scope_name(repository: str, branch: str, version: str = "") -> str:
    """`REPOSITORY::BRANCH`, or `REPOSITORY::BRANCH::VERSION`: how commands, pages and tools write a scope."""
    return SEPARATOR.join(filter(None, (repository, branch, version)))


def scope_named(name: str) -> IndexScope | None:
    """The scope that `scope_name` writes so; None for anything else."""
    parts = name.split(SEPARATOR)
    if len(parts) not in (2, 3) or not all(parts):
        return None
    repository, branch, version = [*parts, ""][:3]
    return IndexScope(repository=repository, branch=branch, active_index=version)


def choices(enum: "EnumTypeWrapper[_Value]") -> dict[str, _Value]:
    """The values of an enum but UNSPECIFIED by their short names: `bm25` for SEARCH_TYPE_BM25."""
    unspecified, *names = enum.keys()
    prefix = unspecified.removesuffix("UNSPECIFIED")
    return {name.removeprefix(prefix).lower(): enum.Value(name) for name in names}


def choice(enum: "EnumTypeWrapper[_Value]", value: _Value) -> str:
    """The short name of a value; `unknown` for one that is unspecified or that only a newer server knows."""
    return next((name for name, known in choices(enum).items() if known == value), "unknown")


def timestamp(field: str, moment: datetime) -> Timestamp:
    """The message of a time. Raises ValueError for one without a zone, which protobuf would take for UTC."""
    if moment.tzinfo is None:
        raise ValueError(f"{field}: {moment.isoformat()} has no time zone: give one, such as datetime.UTC")
    message = Timestamp()
    message.FromDatetime(moment)
    return message
