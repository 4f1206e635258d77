"""Collects what a server answers about names, and makes the result of `read` of it."""

from collections.abc import Iterator, Sequence

from groundwire.v1.query_pb2 import QueryResponse
from groundwire.v1.retrieval_pb2 import (
    ExpandDependencyTreeResponse,
    FetchNodeTextsResponse,
    NodeText,
    ResolvedName,
    ResolveNodesResponse,
    SkipReason,
)
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_client._helpers import Scopes
from groundwire_client._read_targets import (
    MOST_SEARCHED,
    Target,
    file_node,
    nodes_of_file,
    occurrences_of,
    sought_name,
    target_of,
    text_of_lines,
    text_of_node,
    with_texts,
)
from groundwire_client._reading import Reading, ReadText, Unread
from groundwire_client._several import at_versions, scope_of_id
from groundwire_client._source_lines import MOST_LINES_OF_SHORT, FileNode
from groundwire_client._text_packing import Budget, packed

_SKIPPED = {
    SkipReason.SKIP_REASON_OVER_BUDGET: "does not fit",
    SkipReason.SKIP_REASON_UNAVAILABLE: "no such node",
    SkipReason.SKIP_REASON_RESPONSE_LIMIT: "does not fit into the response",
}


class NamedTexts:
    """What is known of names so far. Each response adds to it, and the next call is about what is still missing.

    Attributes:
        scope: The scopes of the next call, at the versions that have answered.
    """

    def __init__(self, scope: Scopes, names: Sequence[str]) -> None:
        self.scope = scope
        self._names = list(dict.fromkeys(names))
        self._named: dict[str, ResolvedName] = {}
        self._texts: dict[str, NodeText] = {}
        self._skipped: dict[str, SkipReason.ValueType] = {}
        self._files: dict[str, list[FileNode]] = {}
        self._occurrences: dict[str, tuple[str, ...]] = {}
        self._index, self._scopes = "", tuple[IndexScope, ...]()

    def add_names(self, response: ResolveNodesResponse) -> None:
        """Adds what names mean."""
        self._named |= {name.name: name for name in response.names}
        self._answered(response.index, response.scopes)

    def add_texts(self, response: FetchNodeTextsResponse) -> None:
        """Adds texts, and why others are missing."""
        self._texts |= {text.id: text for text in response.texts}
        self._skipped |= {skipped.id: skipped.reason for skipped in response.skipped}
        self._answered(response.index, response.scopes)

    def add_file(self, path: str, response: ExpandDependencyTreeResponse) -> None:
        """Adds the nodes of a file."""
        self._files[path] = nodes_of_file(response, path)

    def add_occurrences(self, name: str, response: QueryResponse) -> None:
        """Adds the places where the text of a name stands."""
        self._occurrences[name] = occurrences_of(name, response)

    @property
    def node_ids(self) -> list[str]:
        """The nodes that names mean, without repeats."""
        return list(dict.fromkeys(id_ for target in self._targets() for id_ in target.ids))

    @property
    def files(self) -> dict[str, list[str]]:
        """The paths of files to read lines of, with the ids of nodes in each."""
        files: dict[str, list[str]] = {}
        for target in self._targets():
            if target.lines and not self._is_whole(target):
                known = files.setdefault(target.lines.path, [])
                known += (id_ for id_ in target.file_ids if id_ not in known)
        return files

    @property
    def missing_ids(self) -> list[str]:
        """The nodes whose texts have lines to read, and the first one that does not fit the budget."""
        over = (id_ for id_, reason in self._skipped.items() if reason == SkipReason.SKIP_REASON_OVER_BUDGET)
        ids = dict.fromkeys([next(over, "")])
        for target in self._targets():
            if target.lines and target.lines.path in self._files:
                wanted = target.lines.around()
                nodes = self._files[target.lines.path]
                # An outline may show short nodes as they are written, so their texts say which lines are theirs.
                needed = (
                    node
                    for node in nodes
                    if node.overlaps(wanted.first, wanted.last)
                    or (node.size <= MOST_LINES_OF_SHORT and node.first < wanted.first)
                )
                ids |= dict.fromkeys(node.id for node in needed)
        return [id_ for id_ in ids if id_ and id_ not in self._texts]

    @property
    def symbols_to_search(self) -> list[str]:
        """The last parts of symbols that name no node, to search texts for."""
        sought = dict.fromkeys(
            sought_name(unread.name) for unread in self._unread() if not self._named[unread.name].nodes
        )
        return [name for name in sought if name][:MOST_SEARCHED]

    @property
    def several(self) -> Sequence[IndexScope]:
        """The scopes as several, which are searched by words even if one of them has no statistics of words."""
        return [self.scope] if isinstance(self.scope, IndexScope) else self.scope

    def result(self, budget: Budget) -> Reading:
        """The texts of all names, in their order, as many as fit."""
        texts: dict[tuple[str, str], ReadText] = {}
        left_out: list[str] = []
        for target in self._targets():
            for text in self._texts_of(target):
                texts.setdefault((text.id, text.citation), text)
            left_out += (
                f"{id_}  ({_SKIPPED.get(self._skipped[id_], 'unknown')})"
                for id_ in target.ids
                if id_ in self._skipped and id_ not in self._texts
            )
        fitting = packed(list(texts.values()), budget)
        unread = tuple(
            Unread(unread_name.name, unread_name.reason, self._occurrences.get(sought_name(unread_name.name), ()))
            for unread_name in self._unread()
        )
        left_out = [*fitting.left_out, *dict.fromkeys(left_out)]
        return Reading(fitting.texts, tuple(left_out), unread, fitting.used, budget.unit, self._index, self._scopes)

    def _texts_of(self, target: Target) -> Iterator[ReadText]:
        repository = self._repository_of([*target.ids, *target.file_ids])
        if target.lines is None or self._is_whole(target):
            yield from (text_of_node(self._texts[id_], repository) for id_ in target.ids if id_ in self._texts)
        else:
            nodes = with_texts(self._files.get(target.lines.path, ()), self._texts)
            yield text_of_lines(target.lines.around(), nodes, repository)

    def _is_whole(self, target: Target) -> bool:
        """True if the nodes around a single line are shown, as their texts have it."""
        return any(not file_node(self._texts[id_]).is_outline for id_ in target.ids if id_ in self._texts)

    def _targets(self) -> Iterator[Target]:
        known = (target_of(name, self._named) for name in self._names)
        return (target for target in known if isinstance(target, Target))

    def _unread(self) -> Iterator[Unread]:
        known = (target_of(name, self._named) for name in self._names)
        return (target for target in known if isinstance(target, Unread))

    def _answered(self, index: str, scopes: Sequence[IndexScope]) -> None:
        self._index, self._scopes = index, tuple(scopes)
        self.scope = at_versions(self.scope, index, scopes)

    def _repository_of(self, ids: Sequence[str]) -> str:
        return scope_of_id(ids[0]) if ids and not isinstance(self.scope, IndexScope) else ""
