"""Finds the nodes of the symbols, places and ids that people and models give."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire.v1.retrieval_pb2 import NameMatch, ResolvedName, ResolvedNode, ResolveNodesResponse, SearchNodesResponse
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import Scopes, symbol_beside
from groundwire_client._several import at_versions

MOST_NAMES = 100
"""Names of one call, at most."""

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
        match: How the name was read; unspecified for an id that was taken as it is, and for searched words.
        index: The index version that was asked; empty for such an id, and for several scopes.
        scopes: The versions of the several scopes that were asked.
    """

    name: str
    nodes: tuple[NamedNode, ...] = ()
    match: NameMatch.ValueType = NameMatch.NAME_MATCH_UNSPECIFIED
    index: str = ""
    scopes: tuple[IndexScope, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that it means."""
        is_id = not (self.index or self.scopes)
        return (self.name,) if is_id else tuple(node.id for node in self.nodes)


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


def resolved(response: ResolveNodesResponse) -> dict[str, Resolution]:
    """What names mean, by name. Raises NameResolutionError for one that is ambiguous or means nothing."""
    scopes = tuple(response.scopes)
    return {
        name.name: Resolution(name.name, _nodes_of(name), name.match, response.index, scopes) for name in response.names
    }


def _nodes_of(name: ResolvedName) -> tuple[NamedNode, ...]:
    problem = problem_of(name)
    if problem is not None:
        raise problem
    return tuple(map(_node, name.nodes))


def problem_of(name: ResolvedName) -> NameResolutionError | None:
    """Why a name does not say which nodes it means; None if it does."""
    if name.ambiguous:
        rule = "give the place of one of these, more of its name, or a narrower filter"
        return NameResolutionError(f"{name.name!r} is ambiguous: {rule}", name.name, tuple(map(_node, name.nodes)))
    if not name.nodes:
        rule = "give a symbol such as `Invoice.Create`, a path with a line such as `src/a.cs:42`, or an id"
        hint = "; similar names are" if name.similar else ""
        similar = tuple(map(_node, name.similar))
        return NameResolutionError(f"{name.name!r} names no node: {rule}{hint}", name.name, similar)
    return None


def searched(words: str, response: SearchNodesResponse) -> Resolution:
    """The nodes that a search found for words, where somebody asked to search."""
    nodes = tuple(NamedNode(hit.id, hit.citation, hit.symbol, "", "") for hit in response.hits)
    return Resolution(words, nodes, index=response.index, scopes=tuple(response.scopes))


def ids_of(resolutions: Iterable[Resolution]) -> list[str]:
    """The ids that names mean, without repeats, in their order."""
    return list(dict.fromkeys(id_ for resolution in resolutions for id_ in resolution.ids))


def read_at(scope: Scopes, resolutions: Iterable[Resolution]) -> Scopes:
    """The scopes, at the versions that were asked for names, if any were."""
    answered = next((resolution for resolution in resolutions if resolution.index or resolution.scopes), None)
    return at_versions(scope, answered.index, answered.scopes) if answered else scope


def _node(node: ResolvedNode) -> NamedNode:
    return NamedNode(node.id, node.citation, node.symbol, node.kind, node.signature)
