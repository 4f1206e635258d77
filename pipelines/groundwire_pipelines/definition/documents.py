"""Pipeline files as plain values that know their lines.

YAML is read as its JSON-like part: mappings with unique text keys, lists, texts, numbers, true, false and null, by the
rules of YAML 1.2's core schema (`on`, `yes`, `2025-12-14` and `12:30` are texts). Tags, merge keys and a second
document are refused, so that what stands in a file is what an editor with a JSON Schema sees, and reading runs nothing.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml
from pydantic import JsonValue

from groundwire_pipelines.definition.model import Origin
from groundwire_pipelines.errors import DefinitionError, Problem

MAX_FILE_BYTES = 1_000_000
MAX_DEPTH = 32
MAX_VALUES = 100_000
_MAX_INTEGER_LENGTH = 20

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

Scalar: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a file, with the line of its key, or its own line where it has no key."""

    value: "Scalar | tuple[Located, ...] | Mapping[str, Located]"
    origin: Origin

    def plain(self) -> JsonValue:
        """The value without its places."""
        if isinstance(self.value, Mapping):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        return self.value


def located(value: JsonValue, origin: Origin) -> Located:
    """A plain value that came from one place as a whole."""
    if isinstance(value, dict):
        return Located({key: located(entry, origin) for key, entry in value.items()}, origin)
    if isinstance(value, list):
        return Located(tuple(located(item, origin) for item in value), origin)
    return Located(value, origin)


def read_text(path: Path) -> str:
    """The text of a pipeline file.

    Raises:
        DefinitionError: It cannot be read, is larger than 1 MB, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise _refused(path, 1, "file", f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise _refused(
            path, 1, "file", f"is larger than {MAX_FILE_BYTES:,} bytes; a pipeline file holds steps, not data"
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise _refused(path, line, "file", f"is not UTF-8 at byte {error.start}; save it as UTF-8") from error


def read_document(path: Path) -> Located:
    """The one YAML document of a file.

    Raises:
        DefinitionError: The file cannot be read, is not YAML, or holds what pipeline files may not. Names all of the
            latter, but only the first place that is not YAML.
    """
    text = read_text(path)
    try:
        return _Composer(path, text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise _refused(path, line, "yaml", f"{reason} (column {column})") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _refused(path, line, "yaml", f"the character U+{ord(text[error.position]):04X} is not allowed") from error


def _refused(path: Path, line: int, key: str, message: str) -> DefinitionError:
    return DefinitionError((Problem(str(path), line, key, message),))


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What an alias adds to the document: as many values, and levels below its own place."""

    located: Located
    size: int
    height: int


class _Composer:
    """Builds values from the events of PyYAML's parser.

    PyYAML's own composer is not used because it joins duplicate keys and recurses as deep as a file asks for.
    """

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._file = str(path)
        self._loader = yaml.SafeLoader(text)
        self._anchors: dict[str, _Anchored] = {}
        self._problems: list[Problem] = []
        self._size = 0

    def document(self) -> Located:
        self._next()  # the start of the stream
        start = self._next()
        if isinstance(start, yaml.StreamEndEvent):
            raise _refused(self._path, 1, "yaml", "the file is empty")
        root, _ = self._value(self._next(), ())
        self._next()  # the end of the document
        after = self._next()
        if not isinstance(after, yaml.StreamEndEvent):
            self._problem(after, (), "a second document begins here; a file holds one, with a list under `pipelines`")
        if self._problems:
            raise DefinitionError(tuple(self._problems))
        return root

    def _next(self) -> yaml.Event:
        try:
            event: yaml.Event = self._loader.get_event()
        except (ValueError, OverflowError) as error:
            # PyYAML converts the numbers of escapes and directives without checking their range.
            line = self._loader.get_mark().line + 1
            raise _refused(self._path, line, "yaml", f"a number is out of range: {error}") from error
        return event

    def _value(self, event: yaml.Event, keys: tuple[str, ...]) -> tuple[Located, int]:
        """The value that starts with `event`, and how many levels it has."""
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event, keys)
        if len(keys) > MAX_DEPTH:
            raise self._stop(event, keys, f"is nested deeper than {MAX_DEPTH} levels")
        before = self._size
        self._grow(event, keys, 1)
        origin = Origin(self._file, event.start_mark.line + 1)
        if getattr(event, "tag", None) is not None:
            self._problem(event, keys, f"the tag {event.tag!r} is not allowed; quote a value to make it a text")
        value: Scalar | tuple[Located, ...] | Mapping[str, Located]
        if isinstance(event, yaml.MappingStartEvent):
            value, height = self._entries(keys)
        elif isinstance(event, yaml.SequenceStartEvent):
            value, height = self._items(keys)
        else:
            value, height = self._scalar(event, keys), 0
        result = Located(value, origin)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(result, self._size - before, height)
        return result, height

    def _entries(self, keys: tuple[str, ...]) -> tuple[Mapping[str, Located], int]:
        entries: dict[str, Located] = {}
        height = 0
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, keys)
            value, below = self._value(self._next(), (*keys, key))
            if key in entries:
                message = f"is given twice; first in line {entries[key].origin.line}"
                self._problem(event, (*keys, key), message)
            else:
                entries[key] = Located(value.value, Origin(self._file, event.start_mark.line + 1))
            height = max(height, below + 1)
        return entries, height

    def _key(self, event: yaml.Event, keys: tuple[str, ...]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._stop(event, keys, "a key must be a text, not a list, a mapping or an alias")
        if event.value == "<<" and event.implicit[0]:
            self._problem(event, (*keys, "<<"), "merge keys are not allowed; `extends` is how pipelines share")
            return "<<"
        if event.tag is not None:
            self._problem(event, keys, f"the tag {event.tag!r} is not allowed; quote a key to make it a text")
        key = self._scalar(event, keys)
        if not isinstance(key, str):
            self._problem(event, keys, f"the key {event.value!r} is no text; quote it")
        return str(event.value)

    def _items(self, keys: tuple[str, ...]) -> tuple[tuple[Located, ...], int]:
        items: list[Located] = []
        height = 0
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            item, below = self._value(event, (*keys, str(len(items))))
            items.append(Located(item.value, Origin(self._file, event.start_mark.line + 1)))
            height = max(height, below + 1)
        return tuple(items), height

    def _scalar(self, event: yaml.ScalarEvent, keys: tuple[str, ...]) -> Scalar:
        text: str = event.value
        if not event.implicit[0]:
            if any("\ud800" <= character <= "\udfff" for character in text):
                self._problem(event, keys, "holds half of a surrogate pair; write the character itself")
            return text
        if text in _NULL:
            return None
        if text in _BOOLEANS:
            return _BOOLEANS[text]
        if _INTEGER.fullmatch(text):
            if len(text) > _MAX_INTEGER_LENGTH:
                self._problem(event, keys, "the number is too large")
                return 0
            return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        if _FLOAT.fullmatch(text):
            number = float(text.replace(".", "", 1) if text.lower().endswith(("inf", "nan")) else text)
            if not math.isfinite(number):
                self._problem(event, keys, f"{text} is no finite number")
            return number
        return text

    def _aliased(self, event: yaml.AliasEvent, keys: tuple[str, ...]) -> tuple[Located, int]:
        anchored = self._anchors.get(event.anchor)
        if anchored is None:
            raise self._stop(event, keys, f"the alias *{event.anchor} has no finished anchor before it")
        if len(keys) + anchored.height > MAX_DEPTH:
            raise self._stop(event, keys, f"is nested deeper than {MAX_DEPTH} levels")
        self._grow(event, keys, anchored.size)
        return anchored.located, anchored.height

    def _grow(self, event: yaml.Event, keys: tuple[str, ...], values: int) -> None:
        self._size += values
        if self._size > MAX_VALUES:
            raise self._stop(event, keys, f"the file holds more than {MAX_VALUES:,} values, aliases followed")

    def _problem(self, event: yaml.Event, keys: tuple[str, ...], message: str) -> None:
        self._problems.append(Problem(self._file, event.start_mark.line + 1, ".".join(keys) or "yaml", message))

    def _stop(self, event: yaml.Event, keys: tuple[str, ...], message: str) -> DefinitionError:
        self._problem(event, keys, message)
        return DefinitionError(tuple(self._problems))
