"""YAML that is no deployment file: configuration, the pipelines of build servers, API descriptions, playbooks."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.commands import command_references
from groundwire_ingest.tree.files.facts_about_code import Setting
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.yaml_tree import YamlError, YamlNode, yaml_documents

MAX_KEY_DEPTH = 8

_NAMING_KEYS = frozenset({"name", "id", "job", "stage", "deployment", "task", "hosts"})
_FILE_KEYS = frozenset({"$ref", "uses", "include", "template", "local", "file", "extends"})
_COMMAND_KEYS = frozenset({"run", "script", "command", "entrypoint"})


@dataclass(slots=True)
class _Outline:
    """The parts of documents: sections, plain values by their keys, and lines where a long text is best cut."""

    parts: list[Part] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)

    def add(self, node: YamlNode, path: tuple[str, ...], *, is_item: bool = False) -> None:
        """Adds what a collection holds that `path` leads to; `is_item` for a mapping in a sequence."""
        for child in node.children if node.kind == "sequence" else ():
            if child.is_collection:
                self.cuts.append(child.line)
                self.add(child, path, is_item=child.kind == "mapping")
        for key, value in node.pairs():
            is_named = not key.is_collection and len(path) < MAX_KEY_DEPTH
            if key.is_collection:
                self.add(key, path)
            if value.is_collection:
                inside = (*path, key.text) if is_named else path
                if is_named:
                    self.parts.append(Part(inside, key.line, value.end_line))
                self.add(value, inside)
            elif is_named and is_item and key.text in _NAMING_KEYS and value.text:
                path, is_item = (*path, value.text), False
                self.parts.append(Part(path, key.line, node.end_line))
            elif is_named:
                self.settings.append(Setting((*path, key.text), key.line, value.text))
                is_item = False


def read_yaml(file: SourceFile) -> FileReading:
    """The keys with mappings and sequences of several lines as parts, and every plain value as a setting.

    Commands, as of a step of a build server, refer to files.
    An entry of a sequence that begins with a key such as `name` or `job` is a part of that name. Text that is not
    valid YAML is cut as plain text and named in `skipped`.
    """
    outline = _Outline()
    try:
        for document in yaml_documents(file.text + "\n"):
            outline.add(document.root, ())
    except YamlError as error:
        why = f"not valid YAML at line {error.line}: {error}; indexed as plain text"
        return FileReading(write_parts(file, (), skipped=(SkippedFile(file.path, why),)))
    parts = tuple(_trimmed(outline.parts, lines_of(file.text)))
    analysis = write_parts(file, parts, cuts=outline.cuts, comments=("#",))
    references = tuple(
        PathReference(file.path, (setting.value.partition("#")[0],), "References", setting.line)
        for setting in outline.settings
        if setting.path[-1] in _FILE_KEYS and setting.value.partition("#")[0].endswith((".yml", ".yaml", ".json"))
    )
    commands = command_references(file.path, chain.from_iterable(map(_commands, outline.settings)))
    return FileReading(analysis, (*references, *commands), tuple(outline.settings))


def _commands(setting: Setting) -> Iterator[tuple[int, str]]:
    """The lines of a command with their numbers; those of a block begin below its key."""
    if setting.path[-1] in _COMMAND_KEYS:
        lines = setting.value.splitlines()
        yield from enumerate(lines, start=setting.line + (len(lines) > 1))


def _trimmed(parts: list[Part], lines: list[str]) -> Iterator[Part]:
    """The parts of more than one line. Those of a block end before the comments and blank lines of what comes next."""
    for part in parts:
        end = min(part.end_line, len(lines))
        while end > part.start_line and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
            end -= 1
        if end > part.start_line:
            yield Part(part.path, part.start_line, end)
