"""SearchNodes by name: the nodes that an id, a place or a symbol means, among those that the caller may see."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache

from groundwire_index.scope import SEPARATOR
from groundwire_index.text.names import node_names
from groundwire_server.backends.interface import Snapshot
from groundwire_server.domain.limits import MAX_LIST_LIMIT
from groundwire_server.domain.search.candidates import Positions, Retrieval, as_positions
from groundwire_server.domain.search.names import at_place, describing_words, ends_with, outer, place_of, segments
from groundwire_server.domain.search.search import (
    NameMatch,
    NodeLabel,
    Retriever,
    SearchHit,
    SearchRequest,
    SearchResult,
    SearchType,
)
from groundwire_server.engine.retrieval import scopes_of
from groundwire_server.execution.call import Checkpoint

_ARTICLES = frozenset({"the", "a", "an"})


def search_by_name(request: SearchRequest, snapshot: Snapshot, checkpoint: Checkpoint) -> SearchResult:
    """The nodes of the surest reading of the query that has some, by id."""
    names = _Names(snapshot, checkpoint)
    match, found = next(((match, found) for match, found in names.read(request.query.strip()) if found), (None, []))
    kept = sorted(found, key=lambda node: node.id)[: request.top_k]
    hits = (
        SearchHit(
            label.id, 1.0, rank, label.symbol, label.location, label.is_test, label.is_generated,
            kind=declaration.kind, signature=declaration.signature,
        )
        for rank, (label, declaration) in enumerate(
            zip(kept, snapshot.declarations(names.rows(kept)), strict=True), start=1
        )
    )  # fmt: skip
    return SearchResult(
        tuple(hits),
        snapshot.index,
        SearchType.NAME,
        name_match=match,
        is_ambiguous=len({_meant(node, match) for node in found}) > 1,
        scopes=scopes_of(snapshot),
    )


def _meant(node: NodeLabel, match: NameMatch | None) -> tuple[str, ...]:
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

    def rows(self, nodes: Sequence[NodeLabel]) -> Positions:
        """The rows of nodes [m] that were read."""
        return as_positions(self._rows[node.id] for node in nodes)

    def read(self, text: str) -> Iterator[tuple[NameMatch, list[NodeLabel]]]:
        """The readings of a text, the surest first; many have no nodes."""
        yield NameMatch.ID, self._labels(self._snapshot.rows([text]).values())
        place = place_of(text)
        files = node_names("", place.path)
        in_path = self._bearers(files[-1]) if files else []
        yield NameMatch.PLACE, at_place(place, (node for node in in_path if node.location.path == place.path))
        yield from self._symbols(text)
        in_files = self._bearers(files[0]) if files else []
        end = f"/{place.path}"
        yield NameMatch.PLACE, at_place(place, (node for node in in_files if node.location.path.endswith(end)))
        yield NameMatch.SIGNATURE, self._described(text)

    def _symbols(self, name: str) -> Iterator[tuple[NameMatch, list[NodeLabel]]]:
        names = node_names(name, "")
        if not names:
            return
        for bearers in map(self._bearers, reversed(names)):
            yield NameMatch.SYMBOL, [node for node in bearers if node.symbol == name]
            yield NameMatch.SYMBOL, [node for node in bearers if segments(node.symbol) == segments(name)]
        bearers, folded = self._bearers(names[0]), name.casefold()
        yield NameMatch.SYMBOL_END, outer([node for node in bearers if ends_with(node.symbol, name)])
        yield NameMatch.FOLDED, [node for node in bearers if segments(node.symbol.casefold()) == segments(folded)]
        yield NameMatch.FOLDED, outer([node for node in bearers if ends_with(node.symbol.casefold(), folded)])

    def _described(self, text: str) -> list[NodeLabel]:
        """The nodes of a symbol that is the first or the last word, where the other words say what they are."""
        words = [word for word in text.split() if word.casefold() not in _ARTICLES]
        for name, others in ((words[0], words[1:]), (words[-1], words[:-1])) if words not in ([], [text]) else ():
            wanted = {word.casefold() for word in others}
            for _, found in self._symbols(name):
                told = zip(found, self._snapshot.declarations(self.rows(found)), strict=True)
                if kept := [node for node, declaration in told if wanted <= describing_words(declaration, name)]:
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
