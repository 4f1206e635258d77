"""YAML that is no deployment file: configuration, the pipelines of build servers, API descriptions, playbooks."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.files.facts import Setting
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.model import SourceFile
from groundwire_ingest.tree.yaml_outline import YamlError, line_of, yaml_events

MAX_KEY_DEPTH = 8

_NAMING_KEYS = frozenset({"name", "id", "job", "stage", "deployment", "task", "hosts"})
_FILE_KEYS = frozenset({"$ref", "uses", "include", "template", "local", "file", "extends"})


@dataclass(slots=True)
class _Collection:
    """An open mapping or sequence; `path` leads to it. In a mapping, `key` is the name whose value is due."""

    is_mapping: bool
    path: tuple[str, ...]
    key: str | None = None
    key_line: int = 0
    is_key_due: bool = True
    part: int = -1
    is_item: bool = False


@dataclass(slots=True)
class _Start:
    """A part that begins: where its last line is depends on what comes after it."""

    path: tuple[str, ...]
    line: int
    end: int = 0


@dataclass(slots=True)
class _Outline:
    """What one pass over the parser's events finds."""

    starts: list[_Start] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    open: list[_Collection] = field(default_factory=list)

    def take(self, event: yaml.Event) -> None:
        """Moves on by one event of the parser."""
        if isinstance(event, yaml.CollectionStartEvent):
            self._begin(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._end(event)
        elif isinstance(event, yaml.ScalarEvent):
            self._scalar(event.value, line_of(event))
        elif isinstance(event, yaml.AliasEvent):
            self._scalar("", line_of(event))

    def _begin(self, event: yaml.Event) -> None:
        around = self.open[-1] if self.open else None
        inner = _Collection(isinstance(event, yaml.MappingStartEvent), around.path if around else ())
        if around is not None and around.is_mapping:
            if around.is_key_due:
                around.key, around.is_key_due = None, False
            elif around.key is not None and len(around.path) < MAX_KEY_DEPTH:
                inner.path = (*around.path, around.key)
                inner.part = self._start(inner.path, around.key_line)
                around.is_key_due = True
            else:
                around.is_key_due = True
        elif around is not None:
            inner.is_item = inner.is_mapping
            self.cuts.append(line_of(event))
        self.open.append(inner)

    def _end(self, event: yaml.Event) -> None:
        closed = self.open.pop()
        if closed.part >= 0 and event.end_mark is not None:
            is_block = event.start_mark is not None and event.start_mark.index == event.end_mark.index
            self.starts[closed.part].end = event.end_mark.line + (not is_block)  # a block's mark is at what comes next

    def _scalar(self, value: str, line: int) -> None:
        around = self.open[-1] if self.open else None
        if around is None or not around.is_mapping:
            return
        if around.is_key_due:
            around.key, around.key_line, around.is_key_due = value, line, False
            return
        around.is_key_due = True
        if around.key is None:
            return
        if around.is_item and around.key in _NAMING_KEYS and value and len(around.path) < MAX_KEY_DEPTH:
            around.path = (*around.path, value)
            around.part = self._start(around.path, around.key_line)
        elif len(around.path) < MAX_KEY_DEPTH:
            self.settings.append(Setting((*around.path, around.key), around.key_line, value))
        around.is_item = False

    def _start(self, path: tuple[str, ...], line: int) -> int:
        self.starts.append(_Start(path, line))
        return len(self.starts) - 1


def read_yaml(file: SourceFile) -> FileReading:
    """The keys with mappings and sequences of several lines as parts, and every plain value as a setting.

    An entry of a sequence that begins with a key such as `name` or `job` is a part of that name. Text that is not
    valid YAML is cut as plain text and named in `skipped`.
    """
    outline = _Outline()
    try:
        for event in yaml_events(file.text + "\n"):
            outline.take(event)
    except YamlError as error:
        why = f"not valid YAML at line {error.line}: {error}; indexed as plain text"
        return FileReading(write_parts(file, (), skipped=(SkippedFile(file.path, why),)))
    parts = tuple(_parts(outline.starts, lines_of(file.text)))
    analysis = write_parts(file, parts, cuts=outline.cuts, comments=("#",))
    references = tuple(
        PathReference(file.path, (setting.value.partition("#")[0],), "References", setting.line)
        for setting in outline.settings
        if setting.path[-1] in _FILE_KEYS and setting.value.partition("#")[0].endswith((".yml", ".yaml", ".json"))
    )
    return FileReading(analysis, references, tuple(outline.settings))


def _parts(starts: list[_Start], lines: list[str]) -> Iterator[Part]:
    """The parts of more than one line. Those of a block end before the comments and blank lines of what comes next."""
    for start in starts:
        end = min(start.end, len(lines))
        while end > start.line and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        if end > start.line:
            yield Part(start.path, start.line, end)
