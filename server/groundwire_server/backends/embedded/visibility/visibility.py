"""The rows of one index that one caller may see, and the single check that every id passes before it leaves."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.string_column import StringColumn
from groundwire_index.lexical.lexical import LexicalTable, TermPostings
from groundwire_index.nodes.node import WORKFLOW_KEY
from groundwire_index.nodes.reading_order import NO_DOCUMENT
from groundwire_index.nodes.row_conditions import EVERY_ROW
from groundwire_index.store.loaded import LoadedIndex
from groundwire_server.backends.shared.callers import MAX_CACHED_BYTES, MAX_CACHED_CALLERS, CallerCache
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.access.name_sets import Names
from groundwire_server.domain.indexes import IndexNames, few, folders_of, is_folder, top_of
from groundwire_server.domain.search.candidates import WordStatistics


def within(index: LoadedIndex, bounds: Bounds) -> NDArray[np.bool_]:
    """A new mask [n]: the rows that are within every bound. A row without a value is within none."""
    mask = np.ones(index.manifest.node_count, dtype=np.bool_)
    for column, names in bounds.by_field.items():
        category = index.nodes.categories[column]
        mask &= category.holding(list(_positions(category.values, names)))(EVERY_ROW)
    if bounds.workflows is not None:
        mask &= _of_workflows(index, bounds.workflows)
    return mask


def _positions(values: StringColumn, names: Names) -> Iterator[range]:
    """The places of the names among sorted values; never that of the empty one."""
    for name in names.listed - {""}:
        position = values.find(name)
        if position is not None:
            yield range(position, position + 1)
    for prefix in names.prefixes:
        prefixed = values.prefix_range(prefix)
        yield prefixed[1:] if prefixed and not values[prefixed.start] else prefixed


def _of_workflows(index: LoadedIndex, names: Names) -> NDArray[np.bool_]:
    holding = np.zeros(index.manifest.node_count, dtype=np.bool_)
    for name in names.listed - {""}:
        holding[index.metadata_terms.rows_with(WORKFLOW_KEY, name)] = True
    for prefix in names.prefixes:
        holding[index.metadata_terms.rows_with_prefix(WORKFLOW_KEY, prefix)] = True
    return holding


class Visibility:
    """The rows that a caller sees, as a mask [n] over the node table, and statistics over them alone."""

    def __init__(self, index: LoadedIndex, mask: NDArray[np.bool_]) -> None:
        self._index = index
        self.mask = mask
        self.count = int(np.count_nonzero(mask))
        self._lengths: dict[LexicalTable, tuple[int, int, int]] = {}

    def words(self, lexical: LexicalTable, postings: Mapping[str, TermPostings]) -> WordStatistics:
        """The statistics of a lexical table, and of some tokens by their postings in it."""
        known = self._lengths.get(lexical)
        if known is None:
            seen = np.flatnonzero(self.mask & (self._index.reading_order.document != NO_DOCUMENT))
            known = self._lengths[lexical] = (
                int(np.multiply(lexical.lengths, self.mask, dtype=np.int64).sum()),
                int(np.count_nonzero(np.bincount(self._index.reading_order.document[seen]))),
                int(lexical.lengths[seen].sum(dtype=np.int64)),
            )
        return WordStatistics(
            self.count, *known, {token: self._holders(term_postings) for token, term_postings in postings.items()}
        )

    def _holders(self, postings: TermPostings) -> int:
        """How many visible documents hold a term."""
        if self.count == len(self.mask):
            return len(postings.rows)
        if postings.column is None:
            return int(np.count_nonzero(self.mask.take(postings.rows)))
        return int(np.count_nonzero(np.logical_and(postings.column, self.mask)))

    @cached_property
    def edge_count(self) -> int:
        """Edges that have both ends visible."""
        return len(self._index.edges) if self.count == len(self.mask) else int(np.count_nonzero(self._edges))

    @cached_property
    def names(self) -> IndexNames:
        """The names in the visible nodes and edges."""
        edge_types = self._index.manifest.edge_types
        type_numbers = np.unique(self._index.edges.types[self._edges])
        return IndexNames(
            kinds=self._values_of("kind"),
            languages=self._values_of("language"),
            edge_types=few(edge_types[number] for number in type_numbers.tolist()),
            folders=folders_of(self._tops()),
        )

    def _tops(self) -> Iterator[str]:
        """The distinct results of `top_of` for the paths of visible rows, sorted. Reads one path of each folder."""
        paths = self._index.nodes.categories["path"]
        codes = np.unique(paths.codes[self.mask])
        place = 0
        while place < len(codes):
            code = int(codes[place])
            if top := top_of(paths.values[code]):
                yield top
            end = paths.values.prefix_range(top).stop if is_folder(top) else code + 1
            place = int(np.searchsorted(codes, end))

    @property
    def _edges(self) -> NDArray[np.bool_]:
        """Which edges [m] have both ends visible."""
        edges = self._index.edges
        return self.mask.take(edges.from_rows) & self.mask.take(edges.to_rows)

    def _values_of(self, category: str) -> tuple[str, ...]:
        """The distinct values of visible rows that are not empty, sorted."""
        column = self._index.nodes.categories[category]
        return few(filter(None, (column.values[code] for code in np.unique(column.codes[self.mask]).tolist())))

    def rows_of(self, ids: Iterable[str]) -> dict[str, int]:
        """The rows of those ids that exist and are visible."""
        rows_by_id = ((id_, self._index.nodes.ids.find(id_)) for id_ in ids)
        return {id_: row for id_, row in rows_by_id if row is not None and self.mask[row]}

    def check(self, rows: Sequence[int] | NDArray[np.integer]) -> None:
        """Raises PermissionError, a defect, if one of several rows on their way out is hidden."""
        if not self.mask.take(rows).all():
            raise PermissionError("a hidden row was about to leave the index")

    def ids_of(self, rows: Sequence[int]) -> list[str]:
        """The ids of rows on their way out. Raises as `check` does."""
        self.check(rows)
        return [self._index.nodes.ids[row] for row in rows]


class CallerVisibility:
    """The rows of an index that callers of the same policy classes and bounds see, by lifecycle."""

    def __init__(self, index: LoadedIndex, classes: NDArray[np.bool_], bounds: Bounds) -> None:
        """`classes` [policy classes] says for each policy class whether its nodes are visible within the bounds."""
        self._index = index
        self._classes = classes
        self._bounds = bounds
        self._known: dict[Lifecycle, Visibility] = {}
        self._computed: set[Lifecycle] = set()

    @cached_property
    def sees_any(self) -> bool:
        """True when the caller sees a node, deleted or not."""
        if not self._bounds.bind:
            return bool(self._classes.any())  # every policy class has a node
        return self.of(Lifecycle.ALL).count > 0

    def knows(self, lifecycle: Lifecycle) -> bool:
        """True when `of` has computed the rows of the lifecycle before."""
        return lifecycle in self._computed

    def of(self, lifecycle: Lifecycle) -> Visibility:
        """The rows of one lifecycle; of an index without deleted nodes, ACTIVE and ALL are one object."""
        visibility = self._of(lifecycle)
        self._computed.add(lifecycle)
        return visibility

    def _of(self, lifecycle: Lifecycle) -> Visibility:
        if lifecycle is Lifecycle.ACTIVE and not self._any_deleted:
            lifecycle = Lifecycle.ALL
        known = self._known.get(lifecycle)
        # Two threads may judge the same at a time; setdefault lets all callers hold the same answer.
        return known or self._known.setdefault(lifecycle, self._judged(lifecycle))

    @cached_property
    def _any_deleted(self) -> bool:
        return bool(self._index.nodes.flags["deleted"].any())

    def _judged(self, lifecycle: Lifecycle) -> Visibility:
        mask = self._index.policies.holding(self._classes)(EVERY_ROW)
        if self._bounds.bind:
            mask &= within(self._index, self._bounds)
        if lifecycle is not Lifecycle.ALL:
            mask &= self._index.nodes.flags["deleted"] == (lifecycle is Lifecycle.DELETED)
        return Visibility(self._index, mask)


class VisibilityCache(CallerCache[CallerVisibility]):
    """Visibility by caller, for one index."""

    def __init__(
        self, index: LoadedIndex, max_callers: int = MAX_CACHED_CALLERS, max_bytes: int = MAX_CACHED_BYTES
    ) -> None:
        # A mask has a byte a row, and a caller may ask for every lifecycle; of a large index fewer are remembered.
        caller_bytes = max(1, len(Lifecycle) * index.manifest.node_count)
        most_callers = min(max_callers, max(1, max_bytes // caller_bytes))
        super().__init__(index.policies.classes, partial(CallerVisibility, index), most_callers)
