"""YAML files as plain values with their lines, built from the events of PyYAML's parser. One strict reader for all.

Only the JSON-like part of YAML is allowed: mappings with unique text keys, lists, texts, numbers, true, false and null.
Tags, merge keys and a second document are refused, so that an editor with a JSON Schema sees the same values, and
reading a file runs no code. Aliases are followed as long as they stay within bounds.

PyYAML's own composer is not used because it accepts duplicate keys, and limits neither nesting nor the expansion of
aliases.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from yaml.reader import ReaderError

from groundwire_configuration.located_values import MAX_DEPTH, Located, Origin, Scalar, unquoted

MAX_FILE_BYTES = 1_000_000
MAX_ALIASED_VALUES = 100_000
"""How many values the aliases of a file may add to those that are written out."""
_SHOWN_DEPTH = 4


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """One problem in a file: the line, from 1, the keys on the way to the place, and what to do."""

    line: int
    keys: tuple[str, ...]
    message: str


class DocumentError(ValueError):
    """A file is not a document that is read here; `problems` are all reasons."""

    def __init__(self, *problems: DocumentProblem) -> None:
        super().__init__("; ".join(f"{'.'.join(problem.keys)}: {problem.message}" for problem in problems))
        self.problems = problems


def read_text(path: Path) -> str:
    """The text of a YAML file.

    Raises OSError when it cannot be read, and DocumentError when it is larger than 1 MB or not UTF-8.
    """
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise DocumentError(DocumentProblem(1, ("file",), f"is larger than {MAX_FILE_BYTES:,} bytes; shorten it"))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = f"is not UTF-8 at byte {error.start}; save it as UTF-8"
        raise DocumentError(DocumentProblem(line, ("file",), message)) from error


def read_document(path: Path) -> Located | None:
    """The one YAML document of a file, None when it is empty.

    Raises OSError when the file cannot be read. Raises DocumentError when it is not YAML, or holds something that is
    refused: names all places of the latter, but only the first place that is not YAML.
    """
    text = read_text(path)
    try:
        return Composer(str(path), text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise DocumentError(DocumentProblem(line, ("yaml",), f"{reason} (column {column})")) from error
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"the character U+{ord(text[error.position]):04X} is not allowed"
        raise DocumentError(DocumentProblem(line, ("yaml",), message)) from error


@dataclass(frozen=True, slots=True)
class _Anchored:
    """The size that an alias adds to the document: the number of values, and of levels below its own."""

    located: Located
    size: int
    height: int


class Composer:
    """Reads one document. Goes on after a problem, so that all problems are reported at once."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._events = yaml.parse(text, Loader=yaml.SafeLoader)
        self._line = 1
        self._anchors: dict[str, _Anchored] = {}
        self._problems: list[DocumentProblem] = []
        self._size = 0
        self._aliased_size = 0

    def document(self) -> Located | None:
        """The document's root; None if the text has no document.

        Raises:
            DocumentError: The document holds something that is refused.
            yaml.YAMLError: The text is not YAML.
        """
        self._next()  # the start of the stream
        if isinstance(self._next(), yaml.StreamEndEvent):
            return None
        root, _ = self._value(self._next(), ())
        self._next()  # the end of the document
        if not isinstance(self._next(), yaml.StreamEndEvent):
            self._problem((), "a second document begins here; a file holds one")
        if self._problems:
            raise DocumentError(*self._problems)
        return root

    def _next(self) -> yaml.Event:
        try:
            event = next(self._events)
        except (ValueError, OverflowError) as error:
            # PyYAML converts the numbers of escapes and directives without checking their range.
            raise self._stop((), "a number is out of range in an escape or a directive, here or below") from error
        if event.start_mark is not None:
            self._line = event.start_mark.line + 1
        return event

    def _value(self, event: yaml.Event, keys: tuple[str, ...]) -> tuple[Located, int]:
        """The value that starts with `event`, and how many levels it has."""
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(str(event.anchor), keys)
        if len(keys) > MAX_DEPTH:
            raise self._stop(keys[:_SHOWN_DEPTH], f"is nested deeper than {MAX_DEPTH} levels")
        before = self._size
        self._size += 1
        origin = Origin(self._file, self._line)
        # Nothing else can start a value.
        assert isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent)
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._problem(keys, f"the tag {tag} is not allowed; quote a value to make it a text")
        value: Scalar | tuple[Located, ...] | Mapping[str, Located]
        if isinstance(event, yaml.ScalarEvent):
            value, height = self._scalar(event, keys), 0
        elif isinstance(event, yaml.MappingStartEvent):
            value, height = self._entries(keys)
        else:
            value, height = self._items(keys)
        result = Located(value, origin)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(result, self._size - before, height)
        return result, height

    def _entries(self, keys: tuple[str, ...]) -> tuple[Mapping[str, Located], int]:
        entries: dict[str, Located] = {}
        height = 0
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            origin = Origin(self._file, self._line)
            key = self._key(event, keys)
            if key in entries:
                self._problem((*keys, key), f"is given twice; first in line {entries[key].origin.line}")
            value, below = self._value(self._next(), (*keys, key))
            entries.setdefault(key, Located(value.value, origin))
            height = max(height, below + 1)
        return entries, height

    def _key(self, event: yaml.Event, keys: tuple[str, ...]) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self._stop(keys, "a key must be a text, not a list, a mapping or an alias")
        if event.value == "<<" and event.implicit[0]:
            self._problem((*keys, "<<"), "merge keys are not allowed; write the keys out")
        elif event.tag is not None or not isinstance(self._scalar(event, keys), str):
            self._problem(keys, f"the key {event.value!r} is no text; quote it")
        return event.value

    def _items(self, keys: tuple[str, ...]) -> tuple[tuple[Located, ...], int]:
        items: list[Located] = []
        height = 0
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            origin = Origin(self._file, self._line)
            item, below = self._value(event, (*keys, str(len(items))))
            items.append(Located(item.value, origin))
            height = max(height, below + 1)
        return tuple(items), height

    def _scalar(self, event: yaml.ScalarEvent, keys: tuple[str, ...]) -> Scalar:
        if any("\ud800" <= character <= "\udfff" for character in event.value):
            self._problem(keys, "holds half of a surrogate pair; write the character itself")
        if not event.implicit[0]:
            return event.value
        try:
            return unquoted(event.value)
        except ValueError as error:
            self._problem(keys, str(error))
            return None

    def _aliased(self, name: str, keys: tuple[str, ...]) -> tuple[Located, int]:
        anchored = self._anchors.get(name)
        if anchored is None:
            raise self._stop(keys, f"the alias *{name} has no finished anchor before it")
        if len(keys) + anchored.height > MAX_DEPTH:
            raise self._stop(keys[:_SHOWN_DEPTH], f"is nested deeper than {MAX_DEPTH} levels")
        self._size += anchored.size
        self._aliased_size += anchored.size
        if self._aliased_size > MAX_ALIASED_VALUES:
            raise self._stop(keys, f"the aliases of the file add more than {MAX_ALIASED_VALUES:,} values")
        return anchored.located, anchored.height

    def _problem(self, keys: tuple[str, ...], message: str) -> None:
        self._problems.append(DocumentProblem(self._line, keys, message))

    def _stop(self, keys: tuple[str, ...], message: str) -> DocumentError:
        self._problem(keys, message)
        return DocumentError(*self._problems)
