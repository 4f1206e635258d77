"""Helpers for the generated messages: ids of responses, scopes, names of enum values, times."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1.evidence_pb2 import GatherEvidenceResponse
from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import DependencyPath, FindPathsResponse, SearchNodesResponse
from groundwire.v1.scope_pb2 import IndexScope

if TYPE_CHECKING:  # generic to type checkers alone
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper as EnumTypeWrapper  # pyright: ignore[reportPrivateUsage]

SEPARATOR = "::"
"""Between the parts of ids and of names of scopes; no part holds it."""

Scopes: TypeAlias = IndexScope | Sequence[IndexScope]
"""One scope; or several, which are asked as if they were one, where names that end in `*` are patterns."""
_Value = TypeVar("_Value", bound=int)


def ids(response: SearchNodesResponse | QueryResponse | GatherEvidenceResponse) -> list[str]:
    """The ids of hits, of passages, or of matches without their neighbours, best first: the seeds of other calls."""
    if isinstance(response, GatherEvidenceResponse):
        return [passage.id for passage in response.passages]
    if isinstance(response, SearchNodesResponse):
        return [hit.id for hit in response.hits]
    return [match.id for match in response.matches if not match.meta.neighbor]


def pinned(scope: IndexScope, index: str) -> IndexScope:
    """The scope at one index version: with the `index` of a response, the next call reads the same snapshot."""
    return IndexScope(repository=scope.repository, branch=scope.branch, active_index=index)


def one_or_several(scope: Scopes) -> tuple[IndexScope | None, Sequence[IndexScope]]:
    """The fields `scope` and `scopes` of a request: one of them is set."""
    return (scope, ()) if isinstance(scope, IndexScope) else (None, scope)


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


def symbol_beside(path: str, symbol: str) -> str:
    """The symbol for readers of its path: without the package that the folders name, as in Java.

    `Order.Add` for `shop.cart.Order.Add` of `src/shop/cart/Order.java`. It still names the node.
    """
    folders = f".{path.rpartition('/')[0].replace('/', '.')}"
    ends = [dot.start() for dot in re.finditer(r"\.", symbol) if folders.endswith(f".{symbol[: dot.start()]}")]
    return symbol[ends[-1] + 1 :] if ends else symbol


def telling_paths(response: FindPathsResponse, *, ends_may_differ: bool = False) -> list[DependencyPath]:
    """The paths that tell a reader something of their own, in their order.

    Left out are those that differ from an earlier one in at most one node, and those within one file, unless all are.

    Args:
        response: The response with the paths.
        ends_may_differ: Whether that node may be an end, because the ends are candidates of one description.
    """
    files = {node.id: node.location.path or node.id for node in response.nodes}
    leaving = [path for path in response.paths if len({files[id_] for id_ in path.node_ids}) > 1]
    kept: list[DependencyPath] = []
    for path in leaving or response.paths:
        if not any(_are_alike(path.node_ids, other.node_ids, ends_may_differ) for other in kept):
            kept.append(path)
    return kept


def _are_alike(nodes: Sequence[str], others: Sequence[str], ends_may_differ: bool) -> bool:
    """Two paths of one hop are alike only if they are the same."""
    if len(nodes) != len(others) or not (ends_may_differ or (nodes[0], nodes[-1]) == (others[0], others[-1])):
        return False
    different = sum(node != other for node, other in zip(nodes, others, strict=True))
    return different <= 1 if len(nodes) > 2 else not different


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
