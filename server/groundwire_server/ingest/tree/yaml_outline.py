"""The outline of YAML documents: where each begins and where its upper keys stand. Aliases are never expanded."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

_KEY_DEPTH = 2


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


class YamlOutlineError(Exception):
    """The text is no YAML; the message is the parser's reason and `line` (1-based) where it gave up."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(slots=True)
class _Collection:
    """An open mapping or sequence: the path that leads to it, and the key whose value is due in a mapping."""

    path: tuple[str, ...] | None
    is_mapping: bool
    pending_key: YamlKey | None = None


@dataclass(slots=True)
class _OpenDocument:
    """The document being read: its keys so far and the collections open around the current event."""

    start_line: int
    keys: list[YamlKey] = field(default_factory=list)
    open: list[_Collection] = field(default_factory=list)

    def closed(self) -> YamlDocument:
        return YamlDocument(self.start_line, tuple(self.keys))

    def take(self, event: yaml.Event) -> None:
        """Moves on by one event of the parser."""
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            path = self._value_path("")
            self.open.append(_Collection(path, isinstance(event, yaml.MappingStartEvent)))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self.open.pop()
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.AliasEvent):
            self._value_path("")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        around = self.open[-1] if self.open else None
        is_key = around is not None and around.is_mapping and around.pending_key is None
        if around is None or not is_key:
            self._value_path(event.value)
            return
        path = around.path or ()
        around.pending_key = YamlKey((*path, event.value), event.start_mark.line + 1)

    def _value_path(self, scalar: str) -> tuple[str, ...] | None:
        """Notes that the value of the pending key has come; its path, None where no key of interest leads to it."""
        if not self.open:
            return ()
        around = self.open[-1]
        key, around.pending_key = around.pending_key, None
        if not around.is_mapping or around.path is None or len(around.path) >= _KEY_DEPTH:
            return None
        if key is None:
            around.pending_key = YamlKey((*around.path, ""), 0)
            return None
        self.keys.append(YamlKey(key.path, key.line, scalar))
        return key.path


def yaml_documents(text: str) -> tuple[YamlDocument, ...]:
    """The documents of `text` in order.

    Reads the parser's events and builds no values, so neither aliases that multiply nor deep nesting cost
    more than their length. Raises YamlOutlineError when the text is not YAML.
    """
    try:
        return tuple(_documents(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlOutlineError(error.problem or "not YAML", mark.line + 1 if mark else 1) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlOutlineError(error.reason, line) from error


def _documents(text: str) -> Iterator[YamlDocument]:
    document = _OpenDocument(1)
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.DocumentStartEvent):
            document = _OpenDocument(event.start_mark.line + 1)
        elif isinstance(event, yaml.DocumentEndEvent):
            yield document.closed()
        else:
            document.take(event)
