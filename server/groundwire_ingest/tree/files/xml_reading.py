"""XML files by what they are for: mappers of MyBatis, and all others."""

from collections.abc import Iterator, Sequence

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import Setting
from groundwire_ingest.tree.files.mybatis import is_mapper, read_mapper
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading
from groundwire_ingest.tree.files.xml_files import Element, as_text, element_parts, element_paths, elements_of

_VALUE_ATTRIBUTES = ("value", "connectionString")


def read_xml(file: SourceFile) -> FileReading:
    """Elements of several lines, MAX_ELEMENT_DEPTH deep, as parts named after their keys, else their tags.

    `<add key="A" value="B"/>` and `<add name="A" connectionString="B"/>` are settings. Text that is not well-formed is
    cut as plain text and named in `skipped`.
    """
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return as_text(file, elements)
    if is_mapper(elements):
        return read_mapper(file, elements)
    paths = element_paths(elements)
    return FileReading(write_parts(file, element_parts(elements, paths)), settings=tuple(_settings(elements, paths)))


def _settings(elements: Sequence[Element], paths: Sequence[tuple[str, ...]]) -> Iterator[Setting]:
    for element, path in zip(elements, paths, strict=True):
        value = next((element.attributes[name] for name in _VALUE_ATTRIBUTES if name in element.attributes), None)
        if path and value is not None:
            yield Setting(path, element.line, value)
