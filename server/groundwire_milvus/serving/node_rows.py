"""The nodes of a version as one caller sees them, read by row and remembered for as long as a snapshot lives."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groundwire_milvus.facts import unspilled
from groundwire_milvus.packing import hexed, unhexed
from groundwire_milvus.rows import Rows
from groundwire_milvus.schema import PACKED, UNUSED, UNUSED_VECTOR
from groundwire_milvus.serving.filter_expression import both
from groundwire_milvus.serving.version import OpenVersion
from groundwire_milvus.store import among
from groundwire_server.domain.search.candidates import Positions

ROWS_AT_A_TIME = 4_096
IDS_AT_A_TIME = 1_024
"""What one request asks for."""
VECTOR = "vector"


class NodeRows:
    """The one way that anything of a node leaves Milvus: each request has the expression of what the caller sees.

    Its methods raise StorageUnavailableError and CollectionMissingError.
    """

    def __init__(self, version: OpenVersion, visible: str) -> None:
        """`visible` is the expression, "" where nothing is hidden."""
        self._version = version
        self._visible = visible
        self._known: dict[int, dict[str, Any]] = {}

    def read(self, rows: Positions, fields: Collection[str]) -> Rows:
        """Some fields, whole, of rows [m], in their order; asks for those that were not read before.

        Raises PermissionError, a defect, if one of the rows is hidden.
        """
        numbers = rows.tolist()
        wanted = set(fields)
        fresh = [row for row in dict.fromkeys(numbers) if not self._known.get(row, {}).keys() >= wanted]
        for first in range(0, len(fresh), ROWS_AT_A_TIME):
            self._ask(fresh[first : first + ROWS_AT_A_TIME], fields)
        return Rows([self._known[row] for row in numbers])

    def rows_of(self, ids: Sequence[str], selected: str) -> Mapping[str, int]:
        """The rows of those ids that are visible and meet an expression, in the order of the ids."""
        row_of_id: dict[str, int] = {}
        for first in range(0, len(ids), IDS_AT_A_TIME):
            expression = among("id", list(map(hexed, ids[first : first + IDS_AT_A_TIME])))
            node_rows = self._version.store.query(
                self._version.collections.nodes, both(expression, self._visible, selected), ("id", "row")
            )
            row_of_id.update(
                zip(map(unhexed, node_rows.strings("id")), node_rows.integers("row").tolist(), strict=True)
            )
        return {id_: row_of_id[id_] for id_ in ids if id_ in row_of_id}

    def passing(self, selected: str, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Those of some rows [m] that are visible and meet an expression."""
        expression = both(among("row", rows.tolist()), self._visible, selected)
        return self._version.store.query(self._version.collections.nodes, expression, ("row",)).integers("row")

    def count(self, selected: str) -> int:
        """How many visible rows meet an expression."""
        return self._version.store.count(self._version.collections.nodes, both(self._visible, selected))

    def _ask(self, rows: Sequence[int], fields: Collection[str]) -> None:
        version = self._version
        expression = both(among("row", rows), self._visible)
        nodes, wanted, space = version.collections.nodes, sorted({"row", *fields}), version.manifest.vector_space
        if version.document.dense_index.is_exact:
            vector, dimension = (VECTOR, space.dimension) if space else (UNUSED, len(UNUSED_VECTOR))
            node_rows = version.store.select(nodes, vector, dimension, expression, len(rows), wanted)
        else:
            node_rows = version.store.query(nodes, expression, wanted)
        whole = unspilled(
            version.store, version.collections.facts, node_rows, [field for field in fields if field in PACKED]
        )
        for place, (row, values) in enumerate(zip(node_rows.integers("row").tolist(), node_rows, strict=True)):
            known = self._known.setdefault(row, {})
            known.update(values)
            known.update((field, column[place]) for field, column in whole.items())
            if VECTOR in fields:
                known[VECTOR] = np.asarray(values[VECTOR], dtype=np.float32)
        if not self._known.keys() >= set(rows):
            raise PermissionError("a hidden row was about to leave the index")
