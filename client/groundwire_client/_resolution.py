"""Finds the nodes of the symbols, places and ids that people and models give."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire.v1.query_pb2 import QueryMatch, QueryResponse
from groundwire.v1.retrieval_pb2 import NameMatch, SearchHit, SearchNodesResponse
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import pinned, symbol_beside

MOST_NAMED = 50
"""Nodes that one name means, and candidates of an ambiguous one, at most."""
MOST_NEAR = 3
"""Nodes of similar names that an error lists."""

_SHOWN_CHARACTERS = 60
_SHOWN_CANDIDATES = 10


@dataclass(frozen=True, slots=True)
class NamedNode:
    """A node that a name means, or could.

    Attributes:
        id: Its canonical id.
        place: Path and lines, such as `src/Tax.cs:3-9`; the id where the path is unknown.
        symbol: The qualified name; empty when it has none.
        kind: The language or corpus, such as `cs`.
        signature: The symbol's signature; empty when unknown.
    """

    id: str
    place: str
    symbol: str
    kind: str
    signature: str

    def __str__(self) -> str:
        signature = " ".join(self.signature.split())
        if len(signature) > _SHOWN_CHARACTERS:
            signature = f"{signature[:_SHOWN_CHARACTERS]}..."
        symbol = symbol_beside(self.place, self.symbol)
        return "  ".join(filter(None, (self.place, symbol, f"{self.kind}: {signature}" if signature else "")))


@dataclass(frozen=True, slots=True)
class Resolution:
    """The nodes of a name.

    Attributes:
        name: The name, as given.
        nodes: The nodes; none for an id, which is taken as it is.
        match: How the name was read; unspecified for an id, and for words that a search read.
        index: The index version that was asked; empty for an id.
    """

    name: str
    nodes: tuple[NamedNode, ...] = ()
    match: NameMatch.ValueType = NameMatch.NAME_MATCH_UNSPECIFIED
    index: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that it means."""
        return tuple(node.id for node in self.nodes) or (self.name,)


class NameResolutionError(ValueError):
    """A name that means no node, or for several that differ.

    Attributes:
        name: The name.
        candidates: The nodes to choose from; for a name that means none, those of similar names.
    """

    def __init__(self, message: str, name: str, candidates: Sequence[NamedNode]) -> None:
        super().__init__(message, name, candidates)
        self.name = name
        self.candidates = tuple(candidates)

    def __str__(self) -> str:
        shown = [f"  {node}" for node in self.candidates[:_SHOWN_CANDIDATES]]
        left = len(self.candidates) - len(shown)
        return "\n".join((self.args[0], *shown, *([f"  and {left} more"] if left else [])))


def resolved(name: str, found: SearchNodesResponse) -> Resolution | None:
    """The result of a search by name; None if it found nothing. Raises NameResolutionError if it is ambiguous."""
    nodes = tuple(map(_node, found.hits))
    if found.ambiguous:
        raise NameResolutionError(
            f"{name!r} is ambiguous: give the place of one of these, more of its name, or a narrower filter",
            name,
            nodes,
        )
    return Resolution(name, nodes, found.name_match, found.index) if nodes else None


def nearest(name: str, found: SearchNodesResponse) -> Resolution:
    """The nodes that a search found for words, which name none."""
    return Resolution(name, tuple(map(_node, found.hits)), index=found.index)


def unknown(name: str, similar: QueryResponse) -> NameResolutionError:
    """The error for a name that means no node."""
    rule = "give a symbol such as `Invoice.Create`, a path with a line such as `src/a.cs:42`, or an id"
    hint = "; similar names are" if similar.matches else ""
    return NameResolutionError(f"{name!r} names no node: {rule}{hint}", name, tuple(map(_node, similar.matches)))


def ids_of(resolutions: Iterable[Resolution]) -> list[str]:
    """The ids that names mean, without repeats, in their order."""
    return list(dict.fromkeys(id_ for resolution in resolutions for id_ in resolution.ids))


def read_at(scope: IndexScope, resolutions: Iterable[Resolution]) -> IndexScope:
    """The scope, at the version that was asked for names, if one was."""
    index = next((resolution.index for resolution in resolutions if resolution.index), "")
    return pinned(scope, index) if index else scope


def _node(node: SearchHit | QueryMatch) -> NamedNode:
    return NamedNode(node.id, node.citation, node.symbol, node.kind, node.signature)
