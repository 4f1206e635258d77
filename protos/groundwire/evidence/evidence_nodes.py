"""What evidence is made of: nodes with their texts, edges between them, and the passages that are shown of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate
from typing import Protocol

_LINE_TOKENS = 1.0
"""The tokens of a line break, and of a line's share of numbers."""


class PassageForm(Enum):
    """How much of a node a passage shows; see `groundwire.v1.PassageForm`."""

    WHOLE = "whole"
    PART = "part"
    OUTLINE = "outline"


@dataclass(frozen=True)
class EvidenceNode:
    """A node that may be shown, with its text.

    Attributes:
        id: Its canonical id.
        text: Its whole text; empty for a node that is only named.
        token_count: The tokens of the text.
        symbol: The qualified name; empty when it has none.
        kind: The language or corpus, such as `cs`.
        path: The path within the source, with forward slashes; empty when unknown.
        start_line: The first line, 1-based; 0 when unknown.
        end_line: The last line, inclusive; 0 when unknown.
        scope: Repository and branch if several scopes were asked, else empty.
        is_aside: True for a text that questions seldom mean, such as a test, and that this question does not ask for.
        purpose: What the text is for, as a part of a sentence: "a test"; empty when unknown.
        purpose_factor: The factor that lowered its score for that; 1 for none.
        is_test: True for a test.
        is_generated: True for code that a tool generated.
    """

    id: str
    text: str = ""
    token_count: int = 0
    symbol: str = ""
    kind: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0
    scope: str = ""
    is_aside: bool = False
    purpose: str = ""
    purpose_factor: float = 1.0
    is_test: bool = False
    is_generated: bool = False

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines of the text, without an empty one at its end."""
        return self.text.removesuffix("\n").split("\n")

    @cached_property
    def first_line(self) -> int:
        """The number of the text's first line in its file; 0 if the text is no run of lines of the file."""
        return self.start_line if self.end_line - self.start_line + 1 == len(self.lines) else 0

    @cached_property
    def _token_sums(self) -> Sequence[float]:
        """Estimates of the tokens of all lines before each line, and of all lines."""
        per_character = self.token_count / max(len(self.text), 1)
        return list(accumulate((len(line) * per_character + _LINE_TOKENS for line in self.lines), initial=0.0))

    def tokens_of(self, first: int, last: int) -> int:
        """An estimate of the tokens that the lines from one place to another, both included, take in the evidence."""
        return round(self._token_sums[last + 1] - self._token_sums[first] + 0.5)

    @property
    def is_outline(self) -> bool:
        """True if the text is not a run of lines of the file that it has lines in: it names the parts of a whole."""
        return self.start_line > 0 and self.first_line == 0

    @cached_property
    def file(self) -> tuple[str, str]:
        """What the nodes of one file have in common; a node without a path is a file of its own."""
        return self.scope, self.path or self.id

    def contains(self, other: "EvidenceNode") -> bool:
        """True if the other node lies within the lines of this one and is not all of it."""
        return (
            self.start_line > 0
            and other.start_line > 0
            and self.file == other.file
            and self.start_line <= other.start_line
            and other.end_line <= self.end_line
            and self.end_line - self.start_line > other.end_line - other.start_line
        )


class EvidenceEdge(Protocol):
    """A dependency of one node on another. Edges of an index and messages of a response have this form."""

    @property
    def from_id(self) -> str:
        """The node that depends."""
        ...

    @property
    def to_id(self) -> str:
        """The node that it depends on."""
        ...

    @property
    def edge_type(self) -> str:
        """How it depends, such as `Calls`."""
        ...

    @property
    def confidence(self) -> float:
        """How sure the dependency is, in (0, 1]."""
        ...

    @property
    def line(self) -> int:
        """The line of the file of `from_id` that states it; 0 when unknown."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive lines of a node. `first` is the place of the first one among the node's lines, from 0."""

    first: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The lines of a node that a passage shows.

    Attributes:
        parts: The shown lines, in order.
        form: How much of the node they are.
        tokens: An estimate of the tokens that they take with line numbers and marks.
    """

    parts: tuple[Part, ...]
    form: PassageForm
    tokens: int

    @property
    def line_count(self) -> int:
        """How many lines are shown."""
        return sum(len(part.lines) for part in self.parts)

    def shows(self, first: int, last: int) -> bool:
        """True if all lines from one place to another, from 0, are shown."""
        return any(part.first <= first and last < part.first + len(part.lines) for part in self.parts)


@dataclass(frozen=True, slots=True)
class MatchReason:
    """The node is the match of this rank, 1 for the best. The score is a share of the best match's."""

    rank: int
    share: float


@dataclass(frozen=True, slots=True)
class EdgeReason:
    """An edge joins the node to the passage of another node."""

    edge: EvidenceEdge
    source_id: str


@dataclass(frozen=True, slots=True)
class NameReason:
    """The node defines or uses a name of code that the question has."""

    name: str


@dataclass(frozen=True, slots=True)
class Passage:
    """What is shown of one node.

    Attributes:
        number: The number in the evidence, from 1.
        node: The node.
        excerpt: The shown lines.
        reason: Why it is here.
        copies: How many other nodes with the same text are left out.
        explanation: Why it stands where it stands, in words.
        tokens: The tokens of its block in the evidence.
    """

    number: int
    node: EvidenceNode
    excerpt: Excerpt
    reason: MatchReason | EdgeReason | NameReason
    copies: int = 0
    explanation: str = ""
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node that is named and not shown; its number in earlier evidence that showed it, 0 for none."""

    node: EvidenceNode
    number: int = 0


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a question.

    Attributes:
        passages: What is shown, in the order of the numbers.
        edges: The edges between passages, those of earlier evidence included.
        named: Nodes that are named and not shown.
        further: How many matches are neither shown nor named.
        rendered: All of it as text for a prompt.
        tokens: The tokens of `rendered`.
    """

    passages: tuple[Passage, ...] = ()
    edges: tuple[EvidenceEdge, ...] = ()
    named: tuple[NamedNode, ...] = ()
    further: int = 0
    rendered: str = ""
    tokens: int = 0
