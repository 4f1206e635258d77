"""What the last build of a branch collected from its source, for a build after an edit that moved lines alone.

Most edits change a comment, or an expression without names. Then all nodes but those of the edited file are as they
were, and so are all edges but for the lines of that file. What was collected is used again, with these changes: neither
are nodes read again nor names resolved. It is used only if the same software collected it with the same settings, and
if its files have the checksums that were written last. What the last build of another branch collected serves as well.
Otherwise the source is read to its end, as by a first build.
"""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import of_each_file, sha256
from groundwire_index.graph.edges import EdgeTable
from groundwire_index.scope import MAX_ID_LENGTH, Scope, id_prefix
from groundwire_ingest.build.collect import Collected
from groundwire_ingest.build.long_texts import in_parts
from groundwire_ingest.build.moved_ends import EndMoves, moved_ends
from groundwire_ingest.build.second_name import give_second_name
from groundwire_ingest.build.spool import SpooledEnds, SpooledNodes, SpooledTexts
from groundwire_ingest.records import (
    ComparableSource,
    FileContents,
    LineMoves,
    MovedFile,
    SkippedFile,
    SourceEdge,
    SourceNode,
)
from groundwire_ingest.workers import Pickler, Unpickler

COLLECTION_FOLDER = "collection"
"""Of the folder of a branch's segments."""
READINGS_FILE = "readings.sqlite3"
_CHECKSUMS_FILE = "checksums.json"
_EDGES_FILE = "edges.npz"
_REST_FILE = "rest.pickled"
_OF_STATEMENTS = frozenset(("Calls", "Imports"))
"""The types of edges that no file has by itself, without a statement in it."""
_EDITED_FIELDS = ("text", "start_line", "end_line", "origin")


@dataclass(frozen=True, slots=True)
class _Rest:
    """What was collected besides nodes, ends, texts and the columns of edges, and what it was collected of."""

    contents: tuple[tuple[str, str], ...]
    keys: tuple[str, ...]
    edge_types: tuple[str, ...]
    text_places: tuple[tuple[str, tuple[int, int]], ...]
    skipped: tuple[SkippedFile, ...]
    dropped_edges: int
    prefix_bytes: int
    has_long_ids: bool

    def has_nodes_of(self, prefix_bytes: int) -> bool:
        """True if ids that begin with a prefix of this length leave out the same nodes for the length of their ids."""
        if self.prefix_bytes == prefix_bytes:
            return True
        return not self.has_long_ids and prefix_bytes + max(len(key.encode()) for key in self.keys) <= MAX_ID_LENGTH


class KeptCollection:
    """The folder of what the last build collected. It holds confidential texts, and goes with that build's version."""

    def __init__(self, folder: Path, settings: str, scope: Scope, others: Sequence[Path] = ()) -> None:
        """`settings` are all that a collection depends on besides the contents of its files, and the scope.

        `others` are the folders of other branches, of which this one may be an edit.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._settings = settings
        self._prefix_bytes = len(id_prefix(scope).encode())
        self._others = others

    @property
    def readings_file(self) -> Path:
        """Where the source keeps the results of reading its files."""
        return self._folder / READINGS_FILE

    def renewed(self, source: ComparableSource, contents: FileContents, scratch: Path) -> Collected | None:
        """What the source holds now, with the nodes and texts in a folder in `scratch`; None if it has to be read.

        `contents` are those of its files now.
        """
        renewed = self._renewed_from(self._folder, source, contents, scratch)
        for folder in self._others:
            if renewed is not None:
                break
            renewed = self._renewed_from_other(folder, source, contents, scratch)
        return renewed

    def save(self, collected: Collected, contents: FileContents) -> None:
        """Keeps what was collected of files with these contents: its nodes and texts are moved here.

        Without contents nothing is kept.
        """
        for path in _collected_files(self._folder):
            path.unlink()
        if not contents:
            return
        rest = _Rest(
            tuple(contents),
            tuple(collected.keys),
            collected.edges.edge_types,
            tuple(collected.texts.places.items()),
            collected.skipped,
            collected.dropped_edges,
            self._prefix_bytes,
            collected.has_long_ids,
        )
        paths = [
            *collected.nodes.moved_to(self._folder).files,
            *collected.ends.moved_to(self._folder).files,
            collected.texts.moved_to(self._folder).file,
        ]
        _write_edges(self._folder / _EDGES_FILE, collected.edges)
        (self._folder / _REST_FILE).write_bytes(Pickler.dumps(rest))
        names = [*(path.name for path in paths), _EDGES_FILE, _REST_FILE]
        checksums = dict(zip(names, _checksums_of(self._folder, names), strict=True))
        # Written last: what a crash leaves without it is not used.
        written = json.dumps({"settings": self._settings, "paths": _paths_hash(contents), "checksums": checksums})
        (self._folder / _CHECKSUMS_FILE).write_text(written, encoding="utf-8")

    def _renewed_from(
        self, folder: Path, source: ComparableSource, contents: FileContents, scratch: Path
    ) -> Collected | None:
        """The same by what a folder holds."""
        checksums = self._checksums(folder, contents)
        if _REST_FILE not in checksums or not _are_sound(folder, {_REST_FILE: checksums[_REST_FILE]}):
            return None
        rest: _Rest = Unpickler((folder / _REST_FILE).read_bytes()).load()
        moved = source.moved(rest.contents, contents) if rest.has_nodes_of(self._prefix_bytes) else None
        if moved is None or not _are_sound(folder, checksums):
            return None
        return _Renewal(folder, rest).collected(moved, Path(mkdtemp(dir=scratch)))

    def _renewed_from_other(
        self, folder: Path, source: ComparableSource, contents: FileContents, scratch: Path
    ) -> Collected | None:
        """The same for a folder whose files another build may write or remove meanwhile: they get a second name."""
        if not self._checksums(folder, contents):
            return None
        with TemporaryDirectory(dir=scratch) as name:
            for file in _collected_files(folder):
                give_second_name(file, Path(name, file.name))
            return self._renewed_from(Path(name), source, contents, scratch)

    def _checksums(self, folder: Path, contents: FileContents) -> Mapping[str, str]:
        """The checksum of each file by its name; none if they cannot be read, or if settings or paths were others.

        The settings are compared before anything is unpickled, because other software may have had other types.
        """
        try:
            written = json.loads((folder / _CHECKSUMS_FILE).read_bytes())
        except (OSError, ValueError):
            return {}
        expected = {"settings": self._settings, "paths": _paths_hash(contents)}
        if not isinstance(written, dict) or written | expected != written:
            return {}
        checksums = written.get("checksums")
        return checksums if isinstance(checksums, dict) else {}


def _paths_hash(contents: FileContents) -> str:
    paths = "\0".join(path for path, _ in contents)
    return hashlib.sha256(paths.encode(errors="surrogateescape")).hexdigest()


def _are_sound(folder: Path, checksums: Mapping[str, str]) -> bool:
    """True if all files are there and have their checksums."""
    are_there = all((folder / name).is_file() for name in checksums)
    return are_there and _checksums_of(folder, [*checksums]) == [*checksums.values()]


def _checksums_of(folder: Path, names: Sequence[str]) -> list[str]:
    return [*of_each_file(sha256, [folder / name for name in names])]


def _collected_files(folder: Path) -> list[Path]:
    """All files of a collection but what its files were read as; none if the folder is gone."""
    with suppress(FileNotFoundError):
        return [path for path in folder.iterdir() if path.is_file() and path.name != READINGS_FILE]
    return []


class _Renewal:
    """Applies the edits of files to what was collected before them."""

    def __init__(self, folder: Path, rest: _Rest) -> None:
        self._rest = rest
        self._nodes = SpooledNodes(folder, len(rest.keys))
        self._text_places = dict(rest.text_places)
        self._texts = SpooledTexts.in_folder(folder, self._text_places)
        self._ends = SpooledEnds(folder)
        self._edges = _read_edges(folder / _EDGES_FILE, rest.edge_types)

    def collected(self, moved: Iterable[MovedFile], scratch: Path) -> Collected | None:
        """What is collected now; None if an edit changes more than nodes' texts, and lines."""
        edges = self._edges
        moves: list[EndMoves] = []
        new_nodes: dict[int, SourceNode] = {}
        new_texts: dict[str, str] = {}
        named = {skipped.path for skipped in self._rest.skipped}
        for file in moved:
            new_nodes_of_file = self._nodes_of(file)
            # What is said of a part that was not used may name its line.
            if new_nodes_of_file is None or file.path in named:
                return None
            rows = np.asarray(sorted(new_nodes_of_file), dtype=np.int32)
            keys = frozenset(self._rest.keys[row] for row in rows.tolist())
            moved_edges = self._moved_edges(edges, rows, file)
            if moved_edges is None:
                return None
            edges = moved_edges
            moves.append(EndMoves(file.path, keys, file.lines))
            new_nodes |= new_nodes_of_file
            if file.path in self._text_places:
                new_texts[file.path] = file.text
        ends = moved_ends(self._ends, moves, scratch)
        if ends is None:
            return None
        return Collected(
            self._nodes.with_nodes(new_nodes, scratch),
            edges,
            ends,
            self._texts.with_texts(new_texts, scratch),
            self._rest.skipped,
            self._rest.dropped_edges,
            None,
            self._rest.keys,
            self._rest.has_long_ids,
        )

    def _nodes_of(self, file: MovedFile) -> dict[int, SourceNode] | None:
        """The nodes of a file as they are now, by row; None if others have taken the place of one."""
        new_nodes: dict[int, SourceNode] = {}
        for before, now in file.nodes:
            row = self._row(before.key)
            if row is None:
                return None
            (known,) = self._nodes.read((row,))
            # A text that is too long is cut with all that the tree says of its node, but for what comes late.
            stated = replace(
                now,
                service_name=known.service_name,
                access=known.access,
                is_test=known.is_test,
                is_generated=known.is_generated,
            )
            for part in in_parts(stated):
                row = self._row(part.key)
                if row is None:
                    return None
                (known,) = self._nodes.read((row,))
                new_nodes[row] = replace(known, **{name: getattr(part, name) for name in _EDITED_FIELDS})
            following = f"{before.key}@part{len(in_parts(stated)) + 1}"
            if self._row(following) is not None:
                return None
        return new_nodes

    def _moved_edges(self, edges: EdgeTable, rows: NDArray[np.int32], file: MovedFile) -> EdgeTable | None:
        """The edges with other lines for those that leave a file's rows; None if the new line of one is not known."""
        types = {name: number for number, name in enumerate(edges.edge_types)}
        stated = {
            (self._row(before.from_key), self._row(before.to_key), types.get(before.edge_type)): (before, now)
            for before, now in file.edges
        }
        if len(stated) < len(file.edges):
            return None
        new_lines = edges.lines.copy()
        for number in np.flatnonzero(np.isin(edges.from_rows, rows)).tolist():
            line = int(edges.lines[number])
            place = (int(edges.from_rows[number]), int(edges.to_rows[number]), int(edges.types[number]))
            if place in stated:
                new_line = _new_line(line, *stated[place], file.lines)
            elif edges.edge_types[place[2]] in _OF_STATEMENTS:
                new_line = file.lines.moved_statement(line)
            else:
                new_line = file.lines.moved(line)
            if new_line is None:
                return None
            new_lines[number] = new_line
        return replace(edges, lines=new_lines)

    def _row(self, key: str) -> int | None:
        row = bisect_left(self._rest.keys, key)
        return row if row < len(self._rest.keys) and self._rest.keys[row] == key else None


def _new_line(line: int, before: SourceEdge, now: SourceEdge, lines: LineMoves) -> int | None:
    """The new line of an edge that follows from its file alone; None if it may not be the edge's any more.

    An edge of names between the same nodes counts instead if it is on an earlier line.
    """
    is_stated_line = before.confidence == now.confidence == 1.0 and line == before.line
    return now.line if is_stated_line and lines.stay_behind(before.line, now.line) else None


def _write_edges(path: Path, edges: EdgeTable) -> None:
    columns = {item.name: getattr(edges, item.name) for item in fields(edges) if item.name != "edge_types"}
    np.savez(path, **columns)


def _read_edges(path: Path, edge_types: tuple[str, ...]) -> EdgeTable:
    with np.load(path) as columns:
        return EdgeTable(
            edge_types,
            columns["from_rows"],
            columns["to_rows"],
            columns["types"],
            columns["confidences"],
            columns["lines"],
        )
