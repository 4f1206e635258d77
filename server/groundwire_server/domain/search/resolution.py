"""ResolveNodes: what is asked and what is answered."""

from dataclasses import dataclass
from enum import Enum

from groundwire_index.scope import Scope
from groundwire_server.domain.search.search import Declaration, NodeLabel, NodesRequest


class NameMatch(Enum):
    """How a text names a node, the surest first; see `groundwire.v1.NameMatch`."""

    ID = "id"
    PLACE = "place"
    SYMBOL = "symbol"
    SYMBOL_END = "symbol_end"
    FOLDED = "folded"
    SIGNATURE = "signature"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRequest(NodesRequest):
    """Names to read as nodes; at most `max_nodes` are returned for each."""

    names: tuple[str, ...]
    max_nodes: int

    @property
    def extent(self) -> tuple[int, ...]:
        return len(self.names), sum(map(len, self.names)), self.max_nodes


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node that a name means, or could."""

    label: NodeLabel
    declaration: Declaration


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """What a name means.

    `match` is how it was read, None when nothing is named so. `nodes` are the first ones by id of the `node_count` that
    it means; these are to be chosen from if it `is_ambiguous`. `is_exact` says that the name is a whole id, path or
    symbol. `similar` are nodes of similar names, the most similar first, when nothing is named so.
    """

    name: str
    match: NameMatch | None = None
    nodes: tuple[NamedNode, ...] = ()
    node_count: int = 0
    is_ambiguous: bool = False
    is_exact: bool = False
    similar: tuple[NamedNode, ...] = ()


@dataclass(frozen=True, slots=True)
class ResolveResult:
    """One entry for each name, in their order; `scopes` answered a request for several, where `index` is ""."""

    names: tuple[ResolvedName, ...]
    index: str
    scopes: tuple[Scope, ...] = ()
