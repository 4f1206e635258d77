"""The ends of a tree after an edit that moved lines of one of its files."""

from collections.abc import Set
from dataclasses import replace

from groundwire_index.ends.ends import Ends, RequestEnd
from groundwire_index.ends.full_names import NameUse, OfferedName
from groundwire_index.ends.messages import MessageUse
from groundwire_index.ends.requests import Served
from groundwire_index.ends.tables import TableUse
from groundwire_ingest.records import LineMoves


def moved_ends(ends: Ends, path: str, keys: Set[str], lines: LineMoves) -> Ends | None:
    """The ends with the new lines of the file at a path; None if the new line of one is not known.

    `keys` are those of the file's nodes.
    """
    moving = _Moving(path, keys, lines)
    moved = replace(
        ends,
        routes=tuple(map(moving.route, ends.routes)),
        requests=tuple(map(moving.request, ends.requests)),
        messages=tuple(map(moving.message, ends.messages)),
        names=tuple(map(moving.name, ends.names)),
        uses=tuple(map(moving.use, ends.uses)),
        table_uses=tuple(map(moving.table_use, ends.table_uses)),
    )
    return moved if moving.knows_all else None


class _Moving:
    """Moves the ends of one file, and returns others as they are."""

    def __init__(self, path: str, keys: Set[str], lines: LineMoves) -> None:
        self.knows_all = True
        self._path, self._keys, self._lines = path, keys, lines
        self._known_lines: dict[tuple[int, ...], tuple[int, ...]] = {}

    def route(self, route: Served) -> Served:
        return replace(route, line=self._statement(route.line)) if route.path == self._path else route

    def request(self, end: RequestEnd) -> RequestEnd:
        if end.request.from_key not in self._keys:
            return end
        return replace(end, request=replace(end.request, line=self._statement(end.request.line)))

    def message(self, use: MessageUse) -> MessageUse:
        return replace(use, line=self._line(use.line)) if use.key in self._keys else use

    def name(self, name: OfferedName) -> OfferedName:
        return replace(name, line=self._line(name.line)) if name.key in self._keys else name

    def use(self, use: NameUse) -> NameUse:
        if use.key not in self._keys:
            return use
        return replace(use, line=self._statement(use.line), import_lines=self._import_lines(use.import_lines))

    def table_use(self, use: TableUse) -> TableUse:
        return replace(use, line=self._line(use.line)) if use.key in self._keys else use

    def _line(self, line: int) -> int:
        return self._known(self._lines.moved(line))

    def _statement(self, line: int) -> int:
        return self._known(self._lines.moved_statement(line))

    def _known(self, line: int | None) -> int:
        self.knows_all = self.knows_all and line is not None
        return line or 0

    def _import_lines(self, lines: tuple[int, ...]) -> tuple[int, ...]:
        """All uses of a file share the lines of its imports."""
        if lines not in self._known_lines:
            self._known_lines[lines] = tuple(map(self._statement, lines))
        return self._known_lines[lines]
