"""YAML as the parser's events, and the outline of its documents: where each begins, where its upper keys stand.

Aliases are never expanded here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import yaml
from yaml.reader import Reader, ReaderError

MAX_DEPTH = 200

_KEY_DEPTH = 2
_OTHER_LINE_ENDS = re.compile("\r(?!\n)|[\x85\u2028\u2029]")
_LOADER = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


@dataclass(frozen=True, slots=True)
class YamlKey:
    """A key of the top mapping (`path` of one) or of a mapping below it (of two), and its 1-based line.

    `scalar` is the value where that is a plain text, "" otherwise.
    """

    path: tuple[str, ...]
    line: int
    scalar: str = ""


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document of a YAML stream: the 1-based line where it begins, its `---` included, and its keys in order."""

    start_line: int
    keys: tuple[YamlKey, ...]


class YamlError(Exception):
    """The text cannot be read as YAML; the message is the reason and `line` (1-based) the place."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(slots=True)
class _Collection:
    """An open mapping or sequence. `path` leads to a mapping whose keys count; it is None for all others.

    `key_is_due` tells whether the next node in the mapping is a key; `key` is the one whose value is due.
    """

    path: tuple[str, ...] | None
    key_is_due: bool = True
    key: YamlKey | None = None


@dataclass(slots=True)
class _OpenDocument:
    """The document being read: its keys so far and the collections open around the current event."""

    start_line: int
    keys: list[YamlKey] = field(default_factory=list)
    open: list[_Collection] = field(default_factory=list)

    def take(self, event: yaml.Event) -> None:
        """Moves on by one event of the parser."""
        if isinstance(event, yaml.MappingStartEvent):
            self.open.append(_Collection(self._arrive(None, event)))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._arrive(None, event)
            self.open.append(_Collection(None))
        elif isinstance(event, yaml.CollectionEndEvent):
            self.open.pop()
        elif isinstance(event, yaml.ScalarEvent):
            self._arrive(event.value, event)
        elif isinstance(event, yaml.AliasEvent):
            self._arrive(None, event)

    def _arrive(self, scalar: str | None, event: yaml.Event) -> tuple[str, ...] | None:
        """Notes a key or a value; returns the path that leads to it where the keys below it count, else None."""
        if not self.open:
            return ()
        around = self.open[-1]
        if around.path is None:
            return None
        if around.key_is_due:
            around.key_is_due = False
            around.key = None if scalar is None else YamlKey((*around.path, scalar), line_of(event))
            return None
        around.key_is_due = True
        if around.key is None:
            return None
        self.keys.append(replace(around.key, scalar=scalar or ""))
        return around.key.path if len(around.key.path) < _KEY_DEPTH else None


def yaml_documents(text: str) -> tuple[YamlDocument, ...]:
    """The documents of `text` in order; lines end at a line feed only.

    Reads the parser's events and builds no values, so aliases that multiply cost no more than their length.
    Raises YamlError as `yaml_events` does.
    """
    return tuple(_documents(text))


def yaml_events(text: str) -> Iterator[yaml.Event]:
    """The parser's events for `text`; lines end at a line feed only.

    Raises YamlError when the text is not YAML, or nests deeper than MAX_DEPTH: the time that the parser takes for a
    token grows with the depth.
    """
    depth = 0
    try:
        for event in yaml.parse(_OTHER_LINE_ENDS.sub(" ", text), Loader=_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise YamlError(f"nested deeper than {MAX_DEPTH} levels", line_of(event))
            yield event
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(error.problem or "not YAML", mark.line + 1 if mark else 1) from error
    except ReaderError as error:
        bad = Reader.NON_PRINTABLE.search(text)
        line = text.count("\n", 0, bad.start()) + 1 if bad else 1
        raise YamlError(error.reason, line) from error


def line_of(event: yaml.Event) -> int:
    """The 1-based line where an event of the parser begins; every event that it yields carries that mark."""
    return event.start_mark.line + 1 if event.start_mark is not None else 1


def _documents(text: str) -> Iterator[YamlDocument]:
    document = _OpenDocument(1)
    for event in yaml_events(text):
        if isinstance(event, yaml.DocumentStartEvent):
            document = _OpenDocument(line_of(event))
        elif isinstance(event, yaml.DocumentEndEvent):
            yield YamlDocument(document.start_line, tuple(document.keys))
        else:
            document.take(event)
