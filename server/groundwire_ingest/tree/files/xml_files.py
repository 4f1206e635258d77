"""XML of any kind: configuration of .NET and Java, resources, manifests."""

from collections.abc import Iterator, Sequence

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.files.facts import Setting
from groundwire_ingest.tree.files.parts import Part, write_parts
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.files.xml_outline import MAX_ELEMENT_DEPTH, Element, XmlError, xml_elements
from groundwire_ingest.tree.model import SourceFile

_NAMING_ATTRIBUTES = ("x:Key", "x:Name", "key", "name", "Name", "id", "Id", "Include", "Condition", "TargetType")
_VALUE_ATTRIBUTES = ("value", "connectionString")


def read_xml(file: SourceFile) -> FileReading:
    """Elements of several lines, MAX_ELEMENT_DEPTH deep, as parts named after their keys, else their tags.

    `<add key="A" value="B"/>` and `<add name="A" connectionString="B"/>` are settings. Text that is not well-formed is
    cut as plain text and named in `skipped`.
    """
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return as_text(file, elements)
    paths = element_paths(elements)
    return FileReading(write_parts(file, element_parts(elements, paths)), settings=tuple(_settings(elements, paths)))


def elements_of(file: SourceFile) -> list[Element] | SkippedFile:
    """The elements of an XML file, or why it has none."""
    try:
        return xml_elements(file.text)
    except XmlError as error:
        return SkippedFile(file.path, f"not valid XML at line {error.line}: {error}; indexed as plain text")


def as_text(file: SourceFile, skipped: SkippedFile) -> FileReading:
    """The reading of a file whose outline cannot be had."""
    return FileReading(write_parts(file, (), skipped=(skipped,)))


def element_paths(elements: Sequence[Element]) -> list[tuple[str, ...]]:
    """For each element the names that lead to it from below the root; () for the root and what is too deep."""
    paths: list[tuple[str, ...]] = []
    for element in elements:
        is_named = 1 < element.depth <= MAX_ELEMENT_DEPTH
        paths.append((*paths[element.parent], _name(element)) if is_named else ())
    return paths


def element_parts(elements: Sequence[Element], paths: Sequence[tuple[str, ...]]) -> list[Part]:
    """The elements of more than one line as parts, the root aside."""
    return [
        Part(path, element.line, element.end_line)
        for element, path in zip(elements, paths, strict=True)
        if path and element.end_line > element.line
    ]


def _name(element: Element) -> str:
    named = next((element.attributes[name] for name in _NAMING_ATTRIBUTES if element.attributes.get(name)), "")
    return named or element.local_name


def _settings(elements: Sequence[Element], paths: Sequence[tuple[str, ...]]) -> Iterator[Setting]:
    for element, path in zip(elements, paths, strict=True):
        value = next((element.attributes[name] for name in _VALUE_ATTRIBUTES if name in element.attributes), None)
        if path and value is not None:
            yield Setting(path, element.line, value)
