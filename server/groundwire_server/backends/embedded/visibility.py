"""What one caller may see of one index, and the one point that every id leaves through."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.access import AccessContext
from groundwire_server.domain.search import Filter
from groundwire_server.index.loaded import LoadedIndex
from groundwire_server.index.policies import visible_classes

_FILTER_COLUMNS = {
    "kinds": "kind",
    "data_types": "data_type",
    "corpus_types": "corpus_type",
    "languages": "language",
    "collection_ids": "collection_id",
    "document_ids": "document_id",
}

MAX_CACHED_CALLERS = 256


class Visibility:
    """The rows that a caller sees, as a mask [n] over the node table, and statistics over them alone."""

    def __init__(self, index: LoadedIndex, classes: NDArray[np.bool_]) -> None:
        """`classes` [policy classes] says for each policy class whether its nodes are visible."""
        self._index = index
        self.classes = classes
        self.mask: NDArray[np.bool_] = classes[index.policy_codes]
        self.count = int(np.count_nonzero(self.mask))

    @cached_property
    def mean_length(self) -> float:
        """The visible documents' mean length in BM25 tokens, the pivot of length normalisation; 1 instead of 0."""
        lexical = self._index.lexical
        if lexical is None or self.count == 0:
            return 1.0
        return int(lexical.lengths[self.mask].sum(dtype=np.int64)) / self.count or 1.0

    @cached_property
    def edge_count(self) -> int:
        """Edges both ends of which are visible."""
        owners, ends = self._index.outgoing.all_ends()
        return int(np.count_nonzero(self.mask[owners] & self.mask[ends]))

    def narrowed(self, filter_: Filter) -> NDArray[np.bool_]:
        """The mask [n] of visible rows that pass the filter; not to be written to."""
        if not filter_.narrows:
            return self.mask
        mask = self.mask.copy()
        categories = self._index.nodes.categories
        for field, column in _FILTER_COLUMNS.items():
            wanted: tuple[str, ...] = getattr(filter_, field)
            if wanted:
                positions = (categories[column].values.find(value) for value in wanted)
                mask &= categories[column].rows_with([position for position in positions if position is not None])
        if filter_.path_prefixes:
            paths = categories["path"]
            spans = (paths.values.prefix_range(prefix) for prefix in filter_.path_prefixes)
            mask &= paths.rows_with([position for span in spans for position in span])
        return mask

    def rows_of(self, ids: Iterable[str]) -> dict[str, int]:
        """The rows of those ids that exist and are visible."""
        found = ((id_, self._index.nodes.ids.find(id_)) for id_ in ids)
        return {id_: row for id_, row in found if row is not None and self.mask[row]}

    def ids_of(self, rows: Sequence[int]) -> list[str]:
        """The ids of rows on their way out. Raises PermissionError, a defect, if one of them is hidden."""
        if not all(self.mask[row] for row in rows):
            raise PermissionError("a hidden row was about to leave the index")
        return [self._index.nodes.ids[row] for row in rows]


class VisibilityCache:
    """Visibility by caller, for one index. Callers who see the same policy classes share one mask."""

    def __init__(self, index: LoadedIndex) -> None:
        self._index = index
        self._by_caller: OrderedDict[AccessContext, Visibility] = OrderedDict()
        self._lock = Lock()

    def get(self, access: AccessContext) -> Visibility:
        """What the caller may see; judged once per distinct access context among the most recent ones."""
        with self._lock:
            known = self._by_caller.get(access)
            if known is not None:
                self._by_caller.move_to_end(access)
                return known
        classes = visible_classes(self._index.policies, access)
        with self._lock:
            shared = next((seen for seen in self._by_caller.values() if np.array_equal(seen.classes, classes)), None)
            visibility = shared or Visibility(self._index, classes)
            self._by_caller[access] = visibility
            if len(self._by_caller) > MAX_CACHED_CALLERS:
                self._by_caller.popitem(last=False)
            return visibility
