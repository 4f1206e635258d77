"""MSBuild projects and solutions: what they consist of, and the projects and packages that they refer to."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.chunking import lines_of
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.facts_about_code import ProjectFacts
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.files.xml_files import Element, as_text, element_parts, elements_of

_CENTRAL_FILES = ("Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props")
_PROJECT = re.compile(r"\.[a-z]+proj$")
_FOLDER_PROPERTY = re.compile(r"^\$\((?:MSBuildThisFileDirectory|MSBuildProjectDirectory|ProjectDir|RepoRoot)\)")
_SOLUTION_PROJECT = re.compile(r'Project\("[^"]*"\)\s*=\s*"([^"]*)",\s*"([^"]*)"')
_REFERENCES = {"ProjectReference": "References", "Import": "Imports", "Protobuf": "References"}


def read_msbuild(file: SourceFile) -> FileReading:
    """A project, props or targets file: its groups as parts where it is long, and ProjectFacts.

    Edges `References` lead to the projects that it refers to and the .proto files that it compiles. Edges `Imports`
    lead to the files that `<Import>` names, and to the nearest central files above a project, which MSBuild imports
    automatically.
    """
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return as_text(file, elements)
    paths = [_path(element) for element in elements]
    # Only projects import central files, so none of these replaces another.
    central = _CENTRAL_FILES if _PROJECT.search(file.path.lower()) else ()
    imported = (PathReference(file.path, (name,), "Imports", 1) for name in central)
    references = (*_references(file.path, elements), *imported)
    return FileReading(write_parts(file, element_parts(elements, paths)), references, facts=_facts(elements))


def read_solution(file: SourceFile) -> FileReading:
    """A solution, old (.sln) or new (.slnx): `References` to its projects."""
    if file.path.lower().endswith(".slnx"):
        elements = elements_of(file)
        if isinstance(elements, SkippedFile):
            return as_text(file, elements)
        paths = [(element.attributes.get("Name") or element.local_name,) for element in elements[1:]]
        listed = [(element.attributes.get("Path", ""), element.line) for element in elements]
        parts = element_parts(elements, [(), *paths])
    else:
        parts, listed = [], []
        for line, text in enumerate(lines_of(file.text), start=1):
            project = _SOLUTION_PROJECT.match(text)
            if project is not None:
                listed.append((project.group(2), line))
    references = tuple(
        PathReference(file.path, (path,), "References", line) for path, line in listed if _PROJECT.search(path.lower())
    )
    return FileReading(write_parts(file, parts), references)


def _path(element: Element) -> tuple[str, ...]:
    """A group or target directly below the root, named by its `Label` or `Name`."""
    if element.depth != 2:
        return ()
    label = element.attributes.get("Label") or element.attributes.get("Name")
    return (element.local_name, label) if label else (element.local_name,)


def _references(path: str, elements: Sequence[Element]) -> Iterator[PathReference]:
    for element in elements:
        edge_type = _REFERENCES.get(element.local_name)
        written = element.attributes.get("Include") or element.attributes.get("Project")
        if edge_type is not None and written:
            for item in written.split(";"):
                yield PathReference(path, (_FOLDER_PROPERTY.sub("", item.strip()),), edge_type, element.line)


def _facts(elements: Sequence[Element]) -> ProjectFacts:
    properties: dict[str, str] = {}
    packages: list[str] = []
    projects: list[str] = []
    for element in elements:
        above = elements[element.parent].local_name if element.parent >= 0 else ""
        if above == "PropertyGroup":
            properties[element.local_name] = element.text
        elif element.local_name in {"PackageReference", "GlobalPackageReference", "PackageVersion"}:
            name = element.attributes.get("Include") or element.attributes.get("Update", "")
            if name:
                packages.append(name)
        elif element.local_name == "ProjectReference":
            written = element.attributes.get("Include", "").replace("\\", "/")
            projects += (_FOLDER_PROPERTY.sub("", item.strip()) for item in written.split(";") if item.strip())
    return ProjectFacts(tuple(properties.items()), tuple(packages), tuple(projects))
