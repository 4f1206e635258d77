"""The ends of an index: what its nodes offer to other repositories, and what they ask of them.

Edges between indexes follow from the ends of both (docs/adr/0077). Ends name nodes by their keys. An index without the
file has none. The file has one or more lines, each a JSON object with some of the ends.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.repository_edges.full_names import FullNames, NameUse, OfferedName
from groundwire_index.repository_edges.messages import MessageHandler, MessageUse
from groundwire_index.repository_edges.requests import Asker, Request, Served
from groundwire_index.repository_edges.tables import OfferedTable, TableUse

ENDS_FILE = "ends.json"


@dataclass(frozen=True, slots=True)
class RequestEnd:
    """A request, the file that it is in, and the nodes of its own index that answer it."""

    request: Request
    asker: Asker
    answered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ends:
    """Offered are routes, with the names of services by folder, handlers, names and tables.

    Wanted are requests, messages, and uses of names and tables.
    """

    routes: tuple[Served, ...] = ()
    services: Mapping[str, str] = field(default_factory=dict)
    requests: tuple[RequestEnd, ...] = ()
    handlers: tuple[MessageHandler, ...] = ()
    messages: tuple[MessageUse, ...] = ()
    names: tuple[OfferedName, ...] = ()
    uses: tuple[NameUse, ...] = ()
    tables: tuple[OfferedTable, ...] = ()
    table_uses: tuple[TableUse, ...] = ()

    def __bool__(self) -> bool:
        code = (self.routes, self.requests, self.handlers, self.messages, self.names, self.uses)
        return any((*code, self.tables, self.table_uses))

    @property
    def keys(self) -> list[str]:
        """The keys of all nodes that the ends name, sorted."""
        return sorted(set(self._named()))

    def _named(self) -> Iterator[str]:
        yield from chain.from_iterable((route.handler_key, route.from_key) for route in self.routes)
        for end in self.requests:
            yield end.request.from_key
            yield from end.answered_by
        for handler in self.handlers:
            yield from filter(None, (handler.key, handler.type_key))
        yield from (use.key for use in self.messages)
        for name in self.names:
            yield name.key
            yield name.file_key
            yield from filter(None, (name.made_key,))
        for name_use in self.uses:
            yield name_use.key
            yield from filter(None, (name_use.file_key,))
            yield from name_use.answered_by
        yield from (table.key for table in self.tables)
        for table_use in self.table_uses:
            yield table_use.key
            yield from table_use.answered_by

    def seen(self, is_seen: Callable[[str], bool]) -> "Ends":
        """The ends of those nodes alone; as if the others did not exist.

        A request that another node of its own index answers wants nothing of others.
        """
        return Ends(
            tuple(route for route in self.routes if is_seen(route.handler_key) and is_seen(route.from_key)),
            self.services,
            tuple(
                end for end in self.requests if is_seen(end.request.from_key) and not any(map(is_seen, end.answered_by))
            ),
            tuple(
                handler
                for handler in self.handlers
                if is_seen(handler.key) and (not handler.type_key or is_seen(handler.type_key))
            ),
            tuple(use for use in self.messages if is_seen(use.key)),
            tuple(
                name if not name.made_key or is_seen(name.made_key) else replace(name, made_key="")
                for name in self.names
                if is_seen(name.key) and is_seen(name.file_key)
            ),
            tuple(
                use
                for use in self.uses
                if is_seen(use.key)
                and (not use.file_key or is_seen(use.file_key))
                and not any(map(is_seen, use.answered_by))
            ),
            tuple(table for table in self.tables if is_seen(table.key)),
            tuple(use for use in self.table_uses if is_seen(use.key) and not any(map(is_seen, use.answered_by))),
        )


def write_ends(directory: Path, ends: Ends) -> None:
    """Writes the ends unless there are none: in one line what is neither a name nor a use of one, then file by file.

    Each line has ends for itself, so that few lines differ after the edit of a file.
    """
    if ends:
        with (directory / ENDS_FILE).open("wb") as file:
            file.write(line_of_ends(replace(ends, names=(), uses=())))
            for _, names in groupby(ends.names, key=lambda name: name.file_key):
                file.write(line_of_ends(Ends(names=tuple(names))))
            for _, uses in groupby(ends.uses, key=lambda use: use.file_key):
                file.write(line_of_ends(Ends(uses=tuple(uses))))


def read_ends(path: Path) -> Ends:
    """Reads a file of ends. Raises IndexDamagedError."""
    try:
        with path.open("rb") as file:
            return ends_of_lines(file)
    except OSError as error:
        raise IndexDamagedError(f"{path.name}: {error.strerror}") from error


def ends_of_lines(lines: Iterable[bytes]) -> Ends:
    """The ends of all lines of a file together. Raises IndexDamagedError."""
    parts = [ends_of_line(line) for line in lines]
    return Ends(
        tuple(chain.from_iterable(part.routes for part in parts)),
        {folder: name for part in parts for folder, name in part.services.items()},
        tuple(chain.from_iterable(part.requests for part in parts)),
        tuple(chain.from_iterable(part.handlers for part in parts)),
        tuple(chain.from_iterable(part.messages for part in parts)),
        tuple(chain.from_iterable(part.names for part in parts)),
        tuple(chain.from_iterable(part.uses for part in parts)),
        tuple(chain.from_iterable(part.tables for part in parts)),
        tuple(chain.from_iterable(part.table_uses for part in parts)),
    )


def line_of_ends(ends: Ends) -> bytes:
    """Ends as a line of the file."""
    return _ADAPTER.dump_json(_WrittenEnds.of(ends), exclude_defaults=True) + b"\n"


def ends_of_line(line: bytes) -> Ends:
    """The ends of a line of the file. Raises IndexDamagedError."""
    try:
        return _ADAPTER.validate_json(line).ends
    except ValidationError as error:
        raise IndexDamagedError(f"{ENDS_FILE}: {error.error_count()} errors, first: {error.errors()[0]}") from error
    except IndexError as error:
        raise IndexDamagedError(
            f"{ENDS_FILE}: a use of a name refers to beginnings or keys that the line lacks"
        ) from error


_Place: TypeAlias = Annotated[int, Field(strict=True, ge=0)]


@dataclass(frozen=True, slots=True)
class _Beginnings:
    """How the names of a use begin, and the lines of imports that go with them, as in `NameUse`."""

    of_names: tuple[str, ...] = ("",)
    import_lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class _WrittenUse:
    """A `NameUse`: `beginnings` is the place of what its names begin with, `key` and `file_key` those of keys.

    Earlier versions have the keys themselves.
    """

    space: str
    ending: str
    key: _Place | str
    edge_type: str
    line: int
    confidence: float
    file_key: _Place | str = ""
    beginnings: _Place = 0
    answered_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _WrittenEnds(Ends):
    """Ends as a line of the file has them: `written_uses` in place of `uses`.

    The uses in a file share the beginnings of their names, and the keys of a few nodes. Written in each use, these
    would take most of the room.
    """

    beginnings: tuple[_Beginnings, ...] = ()
    use_keys: tuple[str, ...] = ()
    written_uses: tuple[_WrittenUse, ...] = ()

    @classmethod
    def of(cls, ends: Ends) -> "_WrittenEnds":
        """What is written of ends."""
        beginnings: dict[_Beginnings, int] = {}
        keys: dict[str, int] = {}
        uses: list[_WrittenUse] = []
        for use in ends.uses:
            number = beginnings.setdefault(_Beginnings(use.names.beginnings, use.import_lines), len(beginnings))
            key = keys.setdefault(use.key, len(keys))
            file_key = keys.setdefault(use.file_key, len(keys)) if use.file_key else ""
            place = (key, use.edge_type, use.line, use.confidence, file_key)
            uses.append(_WrittenUse(use.space, use.names.ending, *place, number, use.answered_by))
        return cls(
            ends.routes,
            ends.services,
            ends.requests,
            ends.handlers,
            ends.messages,
            ends.names,
            (),
            ends.tables,
            ends.table_uses,
            tuple(beginnings),
            tuple(keys),
            tuple(uses),
        )

    @property
    def ends(self) -> Ends:
        """The ends. Raises IndexError where a use refers to beginnings or keys that are not there."""
        uses: list[NameUse] = []
        for use in self.written_uses:
            beginnings = self.beginnings[use.beginnings]
            names = FullNames(beginnings.of_names, use.ending)
            place = (self._key(use.key), use.edge_type, use.line, use.confidence, self._key(use.file_key))
            uses.append(NameUse(use.space, names, *place, beginnings.import_lines, use.answered_by))
        return Ends(
            self.routes,
            self.services,
            self.requests,
            self.handlers,
            self.messages,
            self.names,
            tuple(uses),
            self.tables,
            self.table_uses,
        )

    def _key(self, written: int | str) -> str:
        return self.use_keys[written] if isinstance(written, int) else written


_ADAPTER: TypeAdapter[_WrittenEnds] = TypeAdapter(_WrittenEnds)
