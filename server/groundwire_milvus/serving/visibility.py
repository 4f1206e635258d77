"""The nodes of one version that one caller may see: an expression for every read, and statistics of these nodes."""

from collections.abc import Iterable
from concurrent.futures import Future
from functools import cached_property, partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from groundwire_milvus.serving.filter_expression import both, bounds_expression, class_expression
from groundwire_milvus.serving.statistics import (
    BoundRows,
    ClassStatistics,
    RowStatistics,
    Statistics,
    distinct_tops,
    distinct_values,
    read_bound_rows,
)
from groundwire_milvus.serving.version import OpenVersion
from groundwire_server.backends.shared.callers import MAX_CACHED_BYTES, MAX_CACHED_CALLERS, CallerCache
from groundwire_server.domain.access.access import AccessContext, Bounds
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.indexes import IndexNames, few, folders_of
from groundwire_server.domain.search.candidates import WordStatistics

_BYTES_A_BOUND_ROW = 40


class Visibility:
    """The nodes that a caller sees: those of some visibility classes, a mask [classes], within its bounds.

    `expression` is what they meet, `bounds` the part of it that the bounds are; "" where nothing is excluded. `rows`
    are known for a caller with bounds.
    """

    def __init__(self, version: OpenVersion, classes: NDArray[np.bool_], bounds: str, rows: BoundRows | None) -> None:
        self._version = version
        self.classes = classes
        self.bounds = bounds
        self.expression = both(class_expression(classes.tolist()), bounds)
        self.rows = None if rows is None else rows.of_classes(classes)
        self._statistics: Statistics = (
            ClassStatistics(version.document, classes)
            if self.rows is None
            else RowStatistics(version, self.rows, self.expression)
        )
        self._edges: int | None = None
        self._names: IndexNames | None = None

    @cached_property
    def count(self) -> int:
        """How many nodes the caller sees."""
        return self._statistics.nodes

    @property
    def edge_count(self) -> int:
        """Edges that have both ends visible; for a caller with bounds, all edges that leave its nodes are read once."""
        # A `cached_property` would block requests for this of another visibility in the meantime.
        if self._edges is None:
            self._edges = self._statistics.edges
        return self._edges

    @property
    def names(self) -> IndexNames:
        """The names in the visible nodes and edges, read once."""
        if self._names is None:
            edge_types = self._version.manifest.edge_types
            self._names = IndexNames(
                kinds=few(distinct_values(self._version, self.expression, "kind")),
                languages=few(distinct_values(self._version, self.expression, "language")),
                edge_types=few(edge_types[number] for number in self._statistics.edge_types),
                folders=folders_of(distinct_tops(self._version, self.expression)),
            )
        return self._names

    def words(self, table: str, tokens: Iterable[str]) -> WordStatistics:
        """The statistics of a lexical table and some tokens; the length of files is in code tokens."""
        known = {token: fact for token in sorted(set(tokens)) if (fact := self._version.term(table, token)) is not None}
        counts = self._statistics.holders(table, list(known.values()))
        return WordStatistics(
            nodes=self.count,
            length=self._statistics.length(table),
            files=self._documents,
            file_length=self._statistics.code_length_in_documents,
            holders=dict.fromkeys(tokens, 0) | dict(zip(known, counts, strict=True)),
        )

    @cached_property
    def _documents(self) -> int:
        return self._statistics.documents


class CallerVisibility:
    """The nodes of a version that callers of the same policy classes and bounds see, by lifecycle."""

    def __init__(self, version: OpenVersion, policies: NDArray[np.bool_], bounds: Bounds) -> None:
        """`policies` [policy classes] says of each whether its nodes are visible within the bounds. Reads nothing."""
        self._version = version
        self._deleted = np.asarray([node_class.deleted for node_class in version.document.classes], dtype=np.bool_)
        self._classes = policies.take([node_class.policy for node_class in version.document.classes])
        self._bounds = bounds
        self._known: dict[Lifecycle, Visibility] = {}
        self._rows: Future[BoundRows] | None = None
        self._lock = Lock()

    @property
    def is_known(self) -> bool:
        """True if asking what the caller sees takes no request."""
        return not self._bounds.bind or (self._rows is not None and self._rows.done())

    @property
    def sees_any(self) -> bool:
        """True when the caller sees a node, deleted or not."""
        if not self._bounds.bind:
            return bool(self._classes.any())  # every class has a node
        return self.of(Lifecycle.ALL).count > 0

    @property
    def sees_deleted(self) -> bool:
        """True if deleted nodes are of classes that the caller sees."""
        return bool((self._classes & self._deleted).any())

    def of(self, lifecycle: Lifecycle) -> Visibility:
        """The nodes of one lifecycle."""
        known = self._known.get(lifecycle)
        # Two threads may judge the same at a time; setdefault lets all callers hold the same answer.
        return known or self._known.setdefault(lifecycle, self._judged(lifecycle))

    def _judged(self, lifecycle: Lifecycle) -> Visibility:
        classes = self._classes.copy()
        if lifecycle is not Lifecycle.ALL:
            classes &= self._deleted == (lifecycle is Lifecycle.DELETED)
        rows = self._read_rows() if self._bounds.bind else None
        return Visibility(self._version, classes, bounds_expression(self._bounds), rows)

    def _read_rows(self) -> BoundRows:
        """All rows that a caller with bounds sees.

        Of threads that ask at a time one reads, and the others get what it gets; after a failure the next reads anew.
        """
        with self._lock:
            rows, reads = self._rows, self._rows is None
            if rows is None:
                rows = self._rows = Future()
        if reads:
            expression = both(class_expression(self._classes.tolist()), bounds_expression(self._bounds))
            try:
                rows.set_result(read_bound_rows(self._version, expression))
            except BaseException as error:
                self._rows = None
                rows.set_exception(error)
                raise
        return rows.result()


class VisibilityCache:
    """Visibility by caller, for one version. For callers without bounds it stores little."""

    def __init__(self, version: OpenVersion) -> None:
        policies, judged = version.document.policies, partial(CallerVisibility, version)
        self._unbound = CallerCache(policies, judged, MAX_CACHED_CALLERS)
        caller_bytes = max(1, _BYTES_A_BOUND_ROW * len(Lifecycle) * version.manifest.node_count)
        self._bound = CallerCache(policies, judged, min(MAX_CACHED_CALLERS, max(1, MAX_CACHED_BYTES // caller_bytes)))

    def known(self, access: AccessContext) -> CallerVisibility | None:
        """The caller's view if it is remembered, else None."""
        return self._of_bounds(access).known(access)

    def get(self, access: AccessContext) -> CallerVisibility:
        """The caller's view; judged once per distinct access context among the most recent ones."""
        return self._of_bounds(access).get(access)

    def _of_bounds(self, access: AccessContext) -> CallerCache[CallerVisibility]:
        return self._bound if access.bounds.bind else self._unbound
