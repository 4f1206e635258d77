"""The ends of a tree after an edit that moved lines of some of its files."""

import json
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path

from groundwire_index.repository_edges.ends import RequestEnd, ends_of_line, line_of_ends
from groundwire_index.repository_edges.full_names import NameUse, OfferedName
from groundwire_index.repository_edges.messages import MessageUse
from groundwire_index.repository_edges.requests import Served
from groundwire_index.repository_edges.tables import TableUse
from groundwire_ingest.build.spool import SpooledEnds
from groundwire_ingest.records import LineMoves


class EndMoves:
    """Moves the lines of the ends of an edited file; `knows_all` is False once the new line of one was not known."""

    def __init__(self, path: str, keys: Set[str], lines: LineMoves) -> None:
        """`keys` are those of the file's nodes."""
        self.knows_all = True
        self._path, self._keys, self._lines = path, keys, lines
        # An end names the file, or a node of it; few nodes have a key without the path of their file.
        names = (path, *(key for key in keys if path not in key))
        self._written_names = [json.dumps(name, ensure_ascii=False)[1:-1].encode() for name in names]
        self._known_lines: dict[tuple[int, ...], tuple[int, ...]] = {}

    def moved(self, line: bytes) -> bytes:
        """A line of the file of ends as it is after the edit."""
        if not any(name in line for name in self._written_names):
            return line
        ends = ends_of_line(line)
        moved = replace(
            ends,
            routes=tuple(map(self._route, ends.routes)),
            requests=tuple(map(self._request, ends.requests)),
            messages=tuple(map(self._message, ends.messages)),
            names=tuple(map(self._name, ends.names)),
            uses=tuple(map(self._use, ends.uses)),
            table_uses=tuple(map(self._table_use, ends.table_uses)),
        )
        return line_of_ends(moved)

    def _route(self, route: Served) -> Served:
        return replace(route, line=self._statement(route.line)) if route.path == self._path else route

    def _request(self, end: RequestEnd) -> RequestEnd:
        if end.request.from_key not in self._keys:
            return end
        return replace(end, request=replace(end.request, line=self._statement(end.request.line)))

    def _message(self, use: MessageUse) -> MessageUse:
        return replace(use, line=self._line(use.line)) if use.key in self._keys else use

    def _name(self, name: OfferedName) -> OfferedName:
        return replace(name, line=self._line(name.line)) if name.key in self._keys else name

    def _use(self, use: NameUse) -> NameUse:
        if use.key not in self._keys:
            return use
        return replace(use, line=self._statement(use.line), import_lines=self._import_lines(use.import_lines))

    def _table_use(self, use: TableUse) -> TableUse:
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


def moved_ends(before: SpooledEnds, moves: Sequence[EndMoves], directory: Path) -> SpooledEnds | None:
    """A copy of the ends in a folder, with the new lines of edited files; None if the new line of one is not known."""
    for path in before.files:
        with path.open("rb") as lines, (directory / path.name).open("wb") as target:
            for line in lines:
                for move in moves:
                    line = move.moved(line)
                target.write(line)
    return SpooledEnds(directory) if all(move.knows_all for move in moves) else None
