"""The parts of evidence: nodes, the shown parts of their texts, and messages without repeats."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from google.protobuf.message import Message

from groundwire_client import NodeText, PathNode, QueryMatch, ReachedNode, ResolvedNode, SearchHit, scope_name

_Message = TypeVar("_Message", bound=Message)


@dataclass(frozen=True, slots=True)
class EvidenceNode:
    """A node that a search found or a walk reached: its name, location and distance.

    `path` has forward slashes, lines are 1-based and inclusive; what is unknown is empty or 0. `depth` counts edges
    from the nearest node that a search found, 0 for such a one. `handle` is that of its text, None if the evidence
    shows none of it. `scope` is its repository and branch if several were asked.
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
        cls, told: NodeText | ReachedNode | PathNode | SearchHit | QueryMatch | ResolvedNode, handle: int | None = None
    ) -> "EvidenceNode":
        """The node of a message; a node of a path, a hit, a match and a node of a name have no depth."""
        place, depth = told.location, told.depth if isinstance(told, NodeText | ReachedNode) else 0
        scope = (
            scope_name(told.scope.repository, told.scope.branch)
            if isinstance(told, SearchHit | QueryMatch | ResolvedNode)
            else ""
        )
        return cls(told.id, told.symbol, place.path, place.start_line, place.end_line, depth, handle, scope)


@dataclass(frozen=True, slots=True)
class PathEnd:
    """An end of paths: its text, and the nodes that it names, or that a search found for it."""

    text: str
    nodes: tuple[EvidenceNode, ...]
    is_named: bool


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The shown part of a text, marks included, and its tokens.

    `numbered` is the part as the evidence shows it, with line numbers, and `tokens` are its tokens. `source_tokens` are
    those of the lines alone, without numbers and marks. `is_whole`: no line is left out.
    """

    text: str
    numbered: str
    tokens: int
    source_tokens: int
    is_whole: bool


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text with its handle in the evidence, `[1]` for 1, its shown part, and its scope if several were asked."""

    handle: int
    node: NodeText
    excerpt: Excerpt
    scope: str = ""

    @property
    def place(self) -> EvidenceNode:
        """The node of the text, with its handle."""
        return replace(EvidenceNode.of(self.node, self.handle), scope=self.scope)


@dataclass(frozen=True, slots=True)
class Selection:
    """The content of the evidence: texts, and nodes that it names without their text.

    `more` counts nodes that it neither shows nor names.
    """

    texts: tuple[ShownText, ...] = ()
    named: tuple[EvidenceNode, ...] = ()
    more: int = 0


def distinct(messages: Iterable[_Message]) -> list[_Message]:
    """The messages in order, each once; they cannot be hashed, so they are compared by their bytes."""
    return list({message.SerializeToString(deterministic=True): message for message in messages}.values())
