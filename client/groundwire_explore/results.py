"""The content of a page about a search, whether `Query` or `SearchNodes` answered it."""

from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from groundwire_client import IndexScope, SourceLocation, scope_name, scope_of_id
from groundwire_explore.problems import Problem
from groundwire_explore.source_text import SourceText

_EXCERPT = 3

Stage = Literal["retriever", "fusion", "ranking", "rerank", "final"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A value of one stage.

    Attributes:
        stage: The stage that computed it.
        name: Its name in the contract.
        value: The number, as text.
        share: The length of the bar, 0 to 1.
        remark: Why the value is as it is; empty where the name says it.
    """

    stage: Stage
    name: str
    value: str
    share: float
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between a match and another one of the same page.

    Attributes:
        edge_type: Its type, such as `Calls`.
        outgoing: True if the match is the one that depends.
        other: The other match's rank.
        name: The other match's name.
        line: Where the dependency is written, in the file of the one that depends; 0 when unknown.
        confidence: The edge's confidence, as text.
    """

    edge_type: str
    outgoing: bool
    other: int
    name: str
    line: int
    confidence: str


@dataclass(frozen=True, slots=True)
class Container:
    """A node that contains a match."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Match:
    """A match with all that explains it.

    Attributes:
        id: The canonical id.
        rank: 1 for the best.
        score: The score that orders the matches, as text.
        name: The symbol, or another name of the node.
        location: Where its text is.
        badges: Words that set it apart, such as `test`.
        tokens: The text's length in tokens; 0 when unknown.
        bars: The value of each stage.
        matched: The tokens of the query that it contains, as far as the server stated them.
        links: Edges to other matches.
        containers: The nodes that contain it.
        text: The text; None when it was left out.
        best: The place of the line of the text that fits the query best.
        omission: Why the text was left out.
        query: What was asked, to show the part of a long line that fits it.
        why: Why it is first, in words; empty for the others.
    """

    id: str
    rank: int
    score: str
    name: str
    location: SourceLocation
    badges: tuple[str, ...] = ()
    tokens: int = 0
    bars: tuple[Bar, ...] = ()
    matched: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    containers: tuple[Container, ...] = ()
    text: SourceText | None = None
    best: int = 0
    omission: str = ""
    query: str = ""
    why: str = ""

    @property
    def excerpt(self) -> range:
        """The places of the lines around the best one, at most three."""
        if self.text is None:
            return range(0)
        first = max(min(self.best - 1, len(self.text.lines) - _EXCERPT), 0)
        return range(first, min(first + _EXCERPT, len(self.text.lines)))

    def excerpt_line(self, place: int) -> Markup:
        """HTML of a line of the excerpt."""
        return self.text.line_in_view(place, self.query) if self.text else Markup()


@dataclass(frozen=True, slots=True)
class Packed:
    """A text in the budget, or one that was skipped.

    Attributes:
        name: Its name.
        role: Its part in the search: a match, a parent.
        tokens: Its length; 0 when unknown.
        reason: Why it was skipped; empty for one that was packed.
    """

    name: str
    role: str
    tokens: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    """How the budget was used, in the order in which texts were packed."""

    total: int
    used: int
    packed: tuple[Packed, ...]
    skipped: tuple[Packed, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """An answered search.

    Attributes:
        index: The index version that answered, of several each with its scope.
        matches: Best first.
        budget: What was packed; None without texts.
        facts: How the answer was made: names and values.
        notices: Parts that could not be shown, and remarks that every reader needs.
        problems: Other calls than the search itself that failed.
        versions: The index versions that answered.
    """

    index: str
    matches: tuple[Match, ...]
    budget: Budget | None
    facts: tuple[tuple[str, str], ...]
    notices: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = field(default=())
    versions: tuple[IndexScope, ...] = ()

    def version_of(self, node_id: str) -> str:
        """The index version that a node is in, as in an address."""
        names = (scope_name(scope.repository, scope.branch, scope.active_index) for scope in self.versions)
        return next(name for name in names if name.startswith(f"{scope_of_id(node_id)}::"))
