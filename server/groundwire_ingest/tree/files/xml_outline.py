"""XML as the elements that one would point to, each with its lines. No entity that a file defines is expanded."""

from dataclasses import dataclass, field
from xml.parsers import expat

MAX_ELEMENT_DEPTH = 4


class XmlError(Exception):
    """The text cannot be read as XML; the message is the reason and `line` (1-based) the place."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.line = line


@dataclass(slots=True)
class Element:
    """An element with the names as written, prefixes included.

    `parent` is an index into the elements of the file, -1 for the root. `line` and `end_line` are those of its start
    tag's first and end tag's first character. `text` is what stands directly in it, trimmed.
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
        raise XmlError(f"defines the entity {name!r}, and entities are not expanded", self.parser.CurrentLineNumber)


def xml_elements(text: str) -> list[Element]:
    """The elements of a document in the order of their start tags.

    Raises XmlError when the text is not well-formed, or defines an entity.
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
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise XmlError(expat.ErrorString(error.code), error.lineno) from error
    return builder.elements
