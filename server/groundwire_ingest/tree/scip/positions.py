"""The places of symbols by a SCIP index, and the text of a file there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from groundwire_ingest.tree.chunking import lines_of

_UNIT_SIZES = {"utf-8": 1, "utf-16-le": 2, "utf-32-le": 4}
_MAX_BLANKS = 8
_MAX_UNITS = 4_000
"""The longest name that is looked at."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A symbol at a place of a file.

    Rows and columns are 0-based; columns count code units, and `end` is exclusive, -1 where it is on another row.
    `first_row` and `last_row` are those of the definition or expression around the place, -1 where that is unknown.
    """

    symbol: str
    row: int
    start: int
    end: int
    is_definition: bool
    is_import: bool
    first_row: int = -1
    last_row: int = -1


@dataclass(frozen=True, slots=True)
class Span:
    """Rows of a file, 0-based and inclusive, that belong to a node."""

    first_row: int
    last_row: int
    key: str


class SourceText:
    """The lines of a file, looked into by the columns that one unit counts."""

    def __init__(self, text: str, unit: str) -> None:
        self._lines = lines_of(text)
        self._unit = unit
        self._encoded: dict[int, bytes] = {}

    @property
    def row_count(self) -> int:
        """How many lines there are."""
        return len(self._lines)

    def written(self, item: Occurrence) -> str:
        """The text at an occurrence; empty when it is more than one line, or no place in the file."""
        return self._cut(item.row, item.start, item.end)

    def is_before(self, item: Occurrence, sign: str) -> bool:
        """True if a sign of one ASCII character is right after an occurrence, blanks aside."""
        return self._cut(item.row, item.end, item.end + _MAX_BLANKS).lstrip().startswith(sign)

    def _cut(self, row: int, start: int, end: int) -> str:
        if not (0 <= row < len(self._lines) and 0 <= start <= end <= start + _MAX_UNITS):
            return ""
        line = self._lines[row]
        if line.isascii():
            return line[start:end]
        if row not in self._encoded:
            self._encoded[row] = line.encode(self._unit)
        size = _UNIT_SIZES[self._unit]
        return self._encoded[row][size * start : size * end].decode(self._unit, errors="replace")


def innermost(spans: Iterable[Span], row_count: int, outside: str) -> Sequence[str]:
    """For each row the key of the shortest span around it, of equally long ones the first; else `outside`."""
    keys = [outside] * row_count
    # For each row the next one, itself included, that no span has taken; followed and shortened as in union-find.
    free = list(range(row_count + 1))
    for span in sorted(spans, key=lambda span: span.last_row - span.first_row):
        row = _next_free(free, max(span.first_row, 0))
        while row <= min(span.last_row, row_count - 1):
            keys[row] = span.key
            free[row] = row + 1
            row = _next_free(free, row)
    return keys


def _next_free(free: list[int], row: int) -> int:
    row = min(row, len(free) - 1)
    while free[row] != row:
        free[row] = free[free[row]]
        row = free[row]
    return row
