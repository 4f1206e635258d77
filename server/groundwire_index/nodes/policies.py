"""Policy classes: the distinct access demands of an index, so that visibility is judged per class.

A row's code is the place of its class, counted from 1. No class has the code 0, so that a column which was
never written, or was lost to zeros, hides its rows instead of showing them as those of the first class.
"""

from array import array
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from groundwire_index.files.durable_files import map_array, write_array
from groundwire_index.files.segment import Parts, Segment, bytes_part
from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.nodes.row_conditions import RowTest

POLICIES_FILE = "policies.json"
POLICY_COLUMN = "policy.bin"
_CLASSES, _CODES = "policies.classes", "policies.codes"
_ADAPTER: TypeAdapter[tuple[NodeAccess, ...]] = TypeAdapter(tuple[NodeAccess, ...])


def intern(demands: Sequence[NodeAccess]) -> tuple[tuple[NodeAccess, ...], NDArray[np.int32]]:
    """The distinct demands, sorted, and each node's position among them."""
    classes = sorted(set(demands))
    positions = {demand: position for position, demand in enumerate(classes)}
    return tuple(classes), np.asarray([positions[demand] for demand in demands], dtype=np.int32)


class PolicyRun:
    """Collects the demands of one row after the other."""

    def __init__(self) -> None:
        self._codes: dict[NodeAccess, int] = {}
        self._rows = array("i")

    def add(self, demand: NodeAccess) -> None:
        """Notes the demand of the next row."""
        self._rows.append(self._codes.setdefault(demand, len(self._codes)))

    def parts(self) -> Parts:
        """The demands as parts of a segment; the classes are in their order of arrival."""
        return {_CLASSES: bytes_part(_ADAPTER.dump_json(tuple(self._codes))), _CODES: np.asarray(self._rows, np.int32)}


def write_policies_of(directory: Path, segments: Sequence[Segment]) -> None:
    """Writes the policy classes of all rows, and each row's."""
    demands_of_segments = [_ADAPTER.validate_json(segment.part(_CLASSES).tobytes()) for segment in segments]
    classes, places = intern([demand for demands in demands_of_segments for demand in demands])
    (directory / POLICIES_FILE).write_bytes(_ADAPTER.dump_json(classes, indent=1) + b"\n")
    ranks = np.split(places, np.cumsum([len(demands) for demands in demands_of_segments])[:-1])
    codes = [mine[segment.part(_CODES)] for mine, segment in zip(ranks, segments, strict=True)]
    write_array(directory / POLICY_COLUMN, np.concatenate(codes) + np.int32(1))


def read_policies(directory: Path) -> tuple[NodeAccess, ...]:
    """Reads the policy classes of an index or of what is left of a deleted one. Raises IndexDamagedError."""
    try:
        return _ADAPTER.validate_json((directory / POLICIES_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise IndexDamagedError(f"{POLICIES_FILE}: {error}") from error


class PolicyTable:
    """The mapped policy classes of an index, and each row's. `classes` are sorted and distinct; each has a row.

    `codes` [n] are the places of the rows' classes counted from 1, 0 for a row of no class.
    """

    def __init__(self, directory: Path, count: int) -> None:
        """Maps the codes of `count` rows. Raises IndexDamagedError, also when a code is of no class."""
        self.classes = read_policies(directory)
        self.codes = map_array(directory / POLICY_COLUMN, np.int32, (count,))
        if count and not 0 <= self.codes.min() <= self.codes.max() <= len(self.classes):
            raise IndexDamagedError(f"{POLICY_COLUMN}: names policy classes that {POLICIES_FILE} does not have")

    def of(self, row: int) -> NodeAccess:
        """The access rules of the row. Raises PermissionError, a defect, for a row that is of no class."""
        code = int(self.codes[row])
        if code == 0:
            raise PermissionError(f"row {row} has no policy class: no caller may see it")
        return self.classes[code - 1]

    def holding(self, chosen: NDArray[np.bool_]) -> RowTest:
        """Which rows have a class that is among those chosen [classes]; rows of no class never have. Masks are new."""
        by_code = np.concatenate((np.zeros(1, dtype=np.bool_), chosen))
        return lambda rows: by_code.take(self.codes[rows])


def visible_classes(classes: Sequence[NodeAccess], is_met: Callable[[NodeAccess], bool]) -> NDArray[np.bool_]:
    """For each class, whether a caller meets its access rules, by `is_met`."""
    return np.fromiter(map(is_met, classes), dtype=np.bool_, count=len(classes))
