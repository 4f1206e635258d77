"""XML of any kind: the elements that one would point to, with their lines. Entities that a file defines are refused."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading

MAX_ELEMENT_DEPTH = 4


class _EntityDefinedError(Exception):
    """A text defines an entity of its own."""


@dataclass(slots=True)
class Element:
    """An element with the names as written, prefixes included.

    `parent` is an index into the elements of the file, -1 for the root. `line` and `end_line` are those of its start
    tag's first and end tag's first character. `text` is the text directly in it, trimmed.
    """

    name: str
    attributes: dict[str, str]
    line: int
    depth: int
    parent: int
    end_line: int = 0
    text: str = ""

    @property
    def local_name(self) -> str:
        """The name without its prefix."""
        return self.name.rpartition(":")[2]


@dataclass(slots=True)
class _Builder:
    parser: expat.XMLParserType
    elements: list[Element] = field(default_factory=list)
    open: list[int] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        parent = self.open[-1] if self.open else -1
        line = self.parser.CurrentLineNumber
        self.open.append(len(self.elements))
        self.elements.append(Element(name, attributes, line, len(self.open), parent))
        self.texts.append([])

    def end(self, name: str) -> None:
        element = self.elements[self.open.pop()]
        element.end_line = self.parser.CurrentLineNumber
        element.text = "".join(self.texts.pop()).strip()

    def data(self, text: str) -> None:
        if self.texts:
            self.texts[-1].append(text)

    def entity(self, name: str, *_: object) -> None:
        raise _EntityDefinedError(f"defines the entity {name!r}, and entities are not expanded")


def elements_of(file: SourceFile) -> list[Element] | SkippedFile:
    """The elements of an XML file in the order of their start tags, or why it has none.

    That is text that is not well-formed, or the definition of an entity.
    """
    parser = expat.ParserCreate("utf-8")
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    builder = _Builder(parser)
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = builder.entity
    try:
        parser.Parse(file.text.encode(), True)
    except (expat.ExpatError, _EntityDefinedError) as error:
        why = expat.ErrorString(error.code) if isinstance(error, expat.ExpatError) else error
        line = parser.CurrentLineNumber
        return SkippedFile(file.path, f"not valid XML at line {line}: {why}; indexed as plain text")
    return builder.elements


_NAMING_ATTRIBUTES = ("x:Key", "x:Name", "key", "name", "Name", "id", "Id", "Include", "Condition", "TargetType")


def as_text(file: SourceFile, skipped: SkippedFile) -> FileReading:
    """The reading of a file whose outline cannot be had."""
    return FileReading(write_parts(file, (), skipped=(skipped,)))


def element_paths(elements: Sequence[Element]) -> list[tuple[str, ...]]:
    """For each element the names that lead to it from below the root; () for the root and what is too deep."""
    paths: list[tuple[str, ...]] = []
    for element in elements:
        stated = next((element.attributes[name] for name in _NAMING_ATTRIBUTES if element.attributes.get(name)), "")
        is_named = 1 < element.depth <= MAX_ELEMENT_DEPTH
        paths.append((*paths[element.parent], stated or element.local_name) if is_named else ())
    return paths


def element_parts(elements: Sequence[Element], paths: Sequence[tuple[str, ...]]) -> list[Part]:
    """The elements of more than one line as parts, the root aside."""
    return [
        Part(path, element.line, element.end_line)
        for element, path in zip(elements, paths, strict=True)
        if path and element.end_line > element.line
    ]
