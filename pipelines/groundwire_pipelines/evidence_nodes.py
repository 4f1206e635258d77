"""The nodes of evidence: what a search found or a walk reached, and what is shown of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from google.protobuf.message import Message

from groundwire.v1.evidence_pb2 import NamedNode
from groundwire_client import NodeText, Passage, PathNode, QueryMatch, ReachedNode, ResolvedNode, SearchHit, scope_name

_Message = TypeVar("_Message", bound=Message)


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A node that a search found or a walk reached: its name, location and distance.

    `path` has forward slashes, lines are 1-based and inclusive; what is unknown is empty or 0. `depth` counts edges
    from the nearest node that a search found, 0 for such a one. `handle` is its number in the evidence, None if the
    evidence shows none of its text. `scope` is its repository and branch if several were asked.
    """

    id: str
    symbol: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    depth: int = 0
    handle: int | None = None
    scope: str = ""

    @classmethod
    def of(
        cls, node: NodeText | ReachedNode | PathNode | SearchHit | QueryMatch | ResolvedNode | Passage | NamedNode
    ) -> "EvidenceNode":
        """The node of a message; a node of a path, a hit, a match and a node of a name have no depth."""
        place, depth = node.location, node.depth if isinstance(node, NodeText | ReachedNode) else 0
        scope = (
            scope_name(node.scope.repository, node.scope.branch)
            if isinstance(node, SearchHit | QueryMatch | ResolvedNode)
            else ""
        )
        return cls(node.id, node.symbol, place.path, place.start_line, place.end_line, depth, scope=scope)


@dataclass(frozen=True, slots=True)
class PathEnd:
    """An end of paths: its text, and the nodes that it names, or that a search found for it."""

    text: str
    nodes: tuple[EvidenceNode, ...]
    is_named: bool


@dataclass(frozen=True, slots=True)
class ShownText:
    """What the evidence shows of a node.

    Attributes:
        handle: Its number in the evidence, 1 for `[1]`.
        node: The node.
        text: The shown lines, with a line of `…` where lines between them are left out.
        tokens: The tokens that they take in the evidence, with the row of the node.
        is_whole: True if these are all lines of the node.
    """

    handle: int
    node: EvidenceNode
    text: str
    tokens: int
    is_whole: bool


def distinct(messages: Iterable[_Message]) -> list[_Message]:
    """The messages in order, each once; they cannot be hashed, so they are compared by their bytes."""
    return list({message.SerializeToString(deterministic=True): message for message in messages}.values())
