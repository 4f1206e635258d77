"""FetchNodeTexts: what is asked and what is answered."""

from dataclasses import dataclass
from enum import Enum

from groundwire_index.nodes.node import Location
from groundwire_index.scope import Scope
from groundwire_server.domain.search.search import NodesRequest


class PrioritizationMode(Enum):
    """The order in which texts are packed into the budget."""

    SEED_FIRST = "seed_first"
    GRAPH_FIRST = "graph_first"
    BALANCED = "balanced"


class SkipReason(Enum):
    """Why a text was left out."""

    OVER_BUDGET = "over_budget"
    UNAVAILABLE = "unavailable"
    RESPONSE_LIMIT = "response_limit"


@dataclass(frozen=True, slots=True)
class RequestedText:
    """A node whose text is asked for, with its place in the graph: depth 0 and parent "" for a seed."""

    id: str
    depth: int
    parent_id: str
    is_seed: bool = False


@dataclass(frozen=True, slots=True)
class FetchRequest(NodesRequest):
    """A request for texts. Exactly one of `budget_tokens` and `max_chars` is set; None means absent."""

    seed_ids: tuple[str, ...]
    nodes: tuple[RequestedText, ...]
    budget_tokens: int | None = None
    max_chars: int | None = None
    mode: PrioritizationMode = PrioritizationMode.BALANCED

    @property
    def extent(self) -> tuple[int, ...]:
        return len(self.seed_ids), len(self.nodes), self.budget_tokens or 0, self.max_chars or 0


@dataclass(frozen=True, slots=True)
class TextSize:
    """How long a text is: tokens of the system-wide counter, Unicode code points, and UTF-8 bytes.

    The bytes include what is returned with the text: its symbol, and its path twice, since the citation has it too.
    """

    tokens: int
    chars: int
    bytes: int


@dataclass(frozen=True, slots=True)
class StoredText:
    """A text as a backend returns it; flags as in `Node`."""

    text: str
    token_count: int
    location: Location
    symbol: str
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class FetchedText:
    """A text in the answer: what was asked for, and what the index has of it."""

    requested: RequestedText
    stored: StoredText


@dataclass(frozen=True, slots=True)
class SkippedNode:
    """A requested id without a text."""

    id: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class FetchResult:
    """Texts in priority order, what was skipped in the same order, and what the texts use.

    `scopes` are the versions that answered a request for several, where `index` is "".
    """

    texts: tuple[FetchedText, ...]
    skipped: tuple[SkippedNode, ...]
    used_tokens: int
    used_chars: int
    index: str
    scopes: tuple[Scope, ...] = ()
