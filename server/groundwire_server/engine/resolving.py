"""ResolveNodes: the nodes that names mean. A name is read, never searched for."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from groundwire_index.scope import SEPARATOR
from groundwire_index.text.trigram_names import node_names
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.limits import MAX_LIST_LIMIT, MAX_SIMILAR_NAMES
from groundwire_server.domain.search.candidates import Positions, Retrieval, as_positions
from groundwire_server.domain.search.fusion import best_first
from groundwire_server.domain.search.named_places import (
    at_place,
    describing_words,
    ends_with,
    outer,
    place_of,
    segments,
)
from groundwire_server.domain.search.resolution import NamedNode, NameMatch, ResolvedName, ResolveRequest, ResolveResult
from groundwire_server.domain.search.search import NodeLabel, Retriever
from groundwire_server.domain.search.validation import check_resolve
from groundwire_server.engine.indexes import Indexes
from groundwire_server.engine.retrieval import scopes_of
from groundwire_server.execution.call import Call, Checkpoint
from groundwire_server.execution.observation import stage

_ARTICLES = frozenset({"the", "a", "an"})
_LEAST_SIMILARITY = 0.3


async def resolve_nodes(request: ResolveRequest, indexes: Indexes, call: Call) -> ResolveResult:
    """Reads names.

    Raises InvalidRequestError, PermissionDeniedError, NotFoundError, PreconditionError, or what the call's checkpoint
    raises.
    """
    check_resolve(request)
    snapshot = await indexes.open(request, call)

    def resolved() -> ResolveResult:
        with stage("names"):
            read = {name: _resolved(name, request.max_nodes, snapshot, call.checkpoint) for name in request.names}
        return ResolveResult(tuple(read[name] for name in request.names), snapshot.index, scopes_of(snapshot))

    return await call.compute(resolved)


@dataclass(frozen=True, slots=True)
class _Reading:
    """One way to read a name, and the nodes that it means then; none if nothing is named so."""

    match: NameMatch
    nodes: list[NodeLabel]
    is_exact: bool = False


def _resolved(name: str, max_nodes: int, snapshot: Snapshot, checkpoint: Checkpoint) -> ResolvedName:
    """The nodes of the surest reading that has some."""
    checkpoint()
    names = _Names(snapshot, checkpoint)
    text = name.strip()
    reading = next((reading for reading in names.read(text) if reading.nodes), None)
    if reading is None:
        return ResolvedName(name, similar=names.described(names.similar(text)))
    nodes = sorted(reading.nodes, key=lambda node: node.id)
    return ResolvedName(
        name=name,
        match=reading.match,
        nodes=names.described(nodes[:max_nodes]),
        node_count=len(nodes),
        is_ambiguous=len({_meant(node, reading.match) for node in nodes}) > 1,
        is_exact=reading.is_exact,
    )


def _meant(node: NodeLabel, match: NameMatch) -> tuple[str, ...]:
    """Equal for nodes that one name means together: those at a place of one file, and those of one symbol in it."""
    index = node.id.split(SEPARATOR, 2)[:2]
    return (*index, node.location.path, "" if match is NameMatch.PLACE else node.symbol)


class _Names:
    """Reads names; a reading is how a text may be meant, and the nodes that it then means."""

    def __init__(self, snapshot: Snapshot, checkpoint: Checkpoint) -> None:
        self._snapshot = snapshot
        self._checkpoint = checkpoint
        self._bearers = cache(self._bearers_of)
        self._rows: dict[str, int] = {}

    def described(self, nodes: Sequence[NodeLabel]) -> tuple[NamedNode, ...]:
        """Nodes that were read, with their declarations."""
        return tuple(map(NamedNode, nodes, self._snapshot.declarations(self._rows_of(nodes))))

    def _rows_of(self, nodes: Sequence[NodeLabel]) -> Positions:
        return as_positions(self._rows[node.id] for node in nodes)

    def read(self, text: str) -> Iterator[_Reading]:
        """The readings of a text, the surest first; many have no nodes."""
        yield _Reading(NameMatch.ID, self._labels(self._snapshot.rows([text]).values()), is_exact=True)
        place = place_of(text)
        files = node_names("", place.path)
        in_path = self._bearers(files[-1]) if files else []
        at_path = at_place(place, (node for node in in_path if node.location.path == place.path))
        yield _Reading(NameMatch.PLACE, at_path, is_exact=True)
        yield from self._symbols(text)
        in_files = self._bearers(files[0]) if files else []
        end = f"/{place.path}"
        at_end = at_place(place, (node for node in in_files if node.location.path.endswith(end)))
        yield _Reading(NameMatch.PLACE, at_end)
        yield _Reading(NameMatch.SIGNATURE, self._described(text))

    def similar(self, text: str) -> list[NodeLabel]:
        """The nodes whose names are the most similar to a text, best first."""
        search = Retrieval(text, None, {Retriever.TRIGRAM: MAX_SIMILAR_NAMES}, trigram_threshold=_LEAST_SIMILARITY)
        candidates = self._snapshot.retrieve(search, self._checkpoint)
        order = best_first(np.arange(len(candidates)), candidates.by_retriever[Retriever.TRIGRAM].scores)
        return self._labels(candidates.rows[order].tolist())

    def _symbols(self, name: str) -> Iterator[_Reading]:
        names = node_names(name, "")
        if not names:
            return
        for bearers in map(self._bearers, reversed(names)):
            yield _Reading(NameMatch.SYMBOL, [node for node in bearers if node.symbol == name], is_exact=True)
            same = [node for node in bearers if segments(node.symbol) == segments(name)]
            yield _Reading(NameMatch.SYMBOL, same, is_exact=True)
        bearers, folded = self._bearers(names[0]), name.casefold()
        yield _Reading(NameMatch.SYMBOL_END, outer([node for node in bearers if ends_with(node.symbol, name)]))
        same = [node for node in bearers if segments(node.symbol.casefold()) == segments(folded)]
        yield _Reading(NameMatch.FOLDED, same)
        ending = outer([node for node in bearers if ends_with(node.symbol.casefold(), folded)])
        yield _Reading(NameMatch.FOLDED, ending)

    def _described(self, text: str) -> list[NodeLabel]:
        """The nodes of a symbol that is the first or the last word, where the other words say what they are."""
        words = [word for word in text.split() if word.casefold() not in _ARTICLES]
        for name, others in ((words[0], words[1:]), (words[-1], words[:-1])) if words not in ([], [text]) else ():
            wanted = {word.casefold() for word in others}
            for reading in self._symbols(name):
                nodes = reading.nodes
                declared = zip(nodes, self._snapshot.declarations(self._rows_of(nodes)), strict=True)
                if kept := [node for node, declaration in declared if wanted <= describing_words(declaration, name)]:
                    return kept
        return []

    def _bearers_of(self, name: str) -> list[NodeLabel]:
        """The nodes of a normalised name, by id: the first ones of very many."""
        search = Retrieval("", None, {Retriever.TRIGRAM: MAX_LIST_LIMIT}, trigram_threshold=1.0, names=(name,))
        return self._labels(self._snapshot.retrieve(search, self._checkpoint).rows.tolist())

    def _labels(self, rows: Collection[int]) -> list[NodeLabel]:
        labels = self._snapshot.labels(as_positions(rows))
        self._rows |= {label.id: row for label, row in zip(labels, rows, strict=True)}
        return labels
