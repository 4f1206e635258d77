"""The packages that the files of build tools publish and use: npm, NuGet, PyPI, Cargo, Go, Maven and Composer."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from groundwire_index.nodes.node import JsonValue
from groundwire_index.repository_edges.confidences import EXACT
from groundwire_index.repository_edges.full_names import FullNames, NameUse, OfferedName
from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.xml_files import Element, elements_of
from groundwire_ingest.tree.languages.go.go_modules import directives

_PACKAGES = "package:"
_NPM_GROUPS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_COMPOSER_GROUPS = ("require", "require-dev")
_CARGO_GROUPS = ("dependencies", "dev-dependencies", "build-dependencies")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_SEPARATORS = re.compile(r"[-_.]+")
MAX_DOTS = 64
"""A TOML file with more dots than this in one part of a line is not read for its packages."""
_SPACES = {ord(" "): None, ord("\t"): None}
_TOML_MARKS = re.compile(r"[{}\[\],=]")
_WORD = re.compile(r"[\w@./-]+")


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """What a file says of packages of one `registry`: the `name` it publishes, "" for none, and those that it uses.

    `used` are names with their lines, 0 where the line is not known. Names are in the form in which they are compared.
    """

    registry: str
    name: str
    used: tuple[tuple[str, int], ...]

    def offered(self, key: str) -> Iterator[OfferedName]:
        """The name of the package; `key` is the node of the file."""
        if self.name:
            yield OfferedName(_PACKAGES + self.registry, self.name, key, key)

    def uses(self, keys: Sequence[str], first_key: str) -> Iterator[NameUse]:
        """The packages that it uses; `keys` has the node at each line of the file."""
        for name, line in self.used:
            key = (keys[line - 1] if 0 < line <= len(keys) else "") or first_key
            yield NameUse(_PACKAGES + self.registry, FullNames.of(name), key, "References", line, EXACT)


def package_facts(file: SourceFile) -> PackageFacts | None:
    """The packages of a file; None for one that is not of a build tool, or that cannot be read."""
    name = PurePosixPath(file.path).name
    reader = _READERS.get(name) or (_project if name.endswith("proj") and file.language == "msbuild" else None)
    return reader(file) if reader is not None else None


def _npm(file: SourceFile) -> PackageFacts | None:
    return _json(file, "npm", _NPM_GROUPS)


def _composer(file: SourceFile) -> PackageFacts | None:
    return _json(file, "composer", _COMPOSER_GROUPS)


def _json(file: SourceFile, registry: str, groups: Sequence[str]) -> PackageFacts | None:
    """The `name` of a JSON object, and the keys of the objects at some of its keys."""
    try:
        value: JsonValue = json.loads(file.text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    name, lines = value.get("name"), _lines(file.text)
    stated = (value.get(group) for group in groups)
    used = dict.fromkeys(package for group in stated if isinstance(group, dict) for package in group)
    return PackageFacts(
        registry, name if isinstance(name, str) else "", tuple((package, lines.get(package, 0)) for package in used)
    )


def _toml(file: SourceFile) -> Mapping[str, object]:
    """The content of a file; nothing where it is not valid, or too deep: the parser is not linear in that."""
    lines = file.text.translate(_SPACES).splitlines()
    if any(part.count(".") > MAX_DOTS for line in lines for part in _TOML_MARKS.split(line)):
        return {}
    try:
        return tomllib.loads(file.text)
    except (ValueError, RecursionError):
        return {}


def _table(value: object, *path: str) -> Mapping[str, object]:
    """The table at a path; an empty one where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _pypi(file: SourceFile) -> PackageFacts | None:
    """As in PEP 621, or as Poetry has it."""
    value, lines = _toml(file), _lines(file.text)
    project, poetry = _table(value, "project"), _table(value, "tool", "poetry")
    listed = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    listed += _table(value, "dependency-groups").values()
    stated = (item for group in listed if isinstance(group, list) for item in group if isinstance(item, str))
    written = [match[1] for match in map(_REQUIREMENT.match, stated) if match is not None]
    written += _table(poetry, "dependencies")
    for group in _table(poetry, "group").values():
        written += _table(group, "dependencies")
    name = project.get("name") or poetry.get("name")
    used = {_pypi_name(item): lines.get(item, 0) for item in reversed(written) if item != "python"}
    return PackageFacts("pypi", _pypi_name(name) if isinstance(name, str) else "", tuple(sorted(used.items())))


def _requirements(file: SourceFile) -> PackageFacts | None:
    """A list for pip uses packages and publishes none. Its options and addresses are passed over."""
    used: dict[str, int] = {}
    for line, written in enumerate(file.text.splitlines(), 1):
        stated = _REQUIREMENT.match(written)
        if stated is not None and "://" not in written.partition("#")[0]:
            used.setdefault(_pypi_name(stated[1]), line)
    return PackageFacts("pypi", "", tuple(used.items()))


def _pypi_name(written: str) -> str:
    return _SEPARATORS.sub("-", written).lower()


def _cargo(file: SourceFile) -> PackageFacts | None:
    value, lines = _toml(file), _lines(file.text)
    used: dict[str, int] = {}
    for table in (value, _table(value, "workspace")):
        for group in _CARGO_GROUPS:
            for alias, stated in _table(table, group).items():
                renamed = _table(stated).get("package")
                used[_cargo_name(renamed if isinstance(renamed, str) else alias)] = lines.get(alias, 0)
    name = _table(value, "package").get("name")
    return PackageFacts("cargo", _cargo_name(name) if isinstance(name, str) else "", tuple(sorted(used.items())))


def _cargo_name(written: str) -> str:
    return written.replace("_", "-")


def _go(file: SourceFile) -> PackageFacts | None:
    """The modules that are stated as `indirect` are not used by this one itself."""
    name, used = "", dict[str, int]()
    for directive in directives(file.text):
        if directive.verb == "module" and directive.words:
            name = directive.words[0]
        elif directive.verb == "require" and directive.words and not directive.is_indirect:
            used.setdefault(directive.words[0], directive.line)
    return PackageFacts("go", name, tuple(used.items()))


def _maven(file: SourceFile) -> PackageFacts | None:
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return None
    texts: dict[int, dict[str, str]] = {}
    for element in elements:
        texts.setdefault(element.parent, {})[element.local_name] = element.text
    project = texts.get(0, {})
    parent = next((place for place, item in enumerate(elements) if _is_in(elements, item, "parent", "project")), -1)
    group = project.get("groupId") or texts.get(parent, {}).get("groupId", "")
    used: dict[str, int] = {}
    for place, element in enumerate(elements):
        if _is_in(elements, element, "dependency", "dependencies"):
            stated = texts.get(place, {})
            name = _maven_name(stated.get("groupId", ""), stated.get("artifactId", ""), group)
            if name:
                used.setdefault(name, element.line)
    return PackageFacts("maven", _maven_name(group, project.get("artifactId", ""), group), tuple(used.items()))


def _is_in(elements: Sequence[Element], element: Element, name: str, around: str) -> bool:
    return element.local_name == name and element.parent >= 0 and elements[element.parent].local_name == around


def _maven_name(group: str, artifact: str, own_group: str) -> str:
    """`group:artifact`; empty for one with a property whose value is elsewhere."""
    name = f"{group}:{artifact}".replace("${project.groupId}", own_group).replace("${groupId}", own_group)
    return "" if "${" in name or not group or not artifact else name


def _project(file: SourceFile) -> PackageFacts | None:
    """A project of MSBuild publishes the package `PackageId`, else `AssemblyName`, else one of the file's name."""
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return None
    properties = {
        element.local_name: element.text
        for element in elements
        if element.parent >= 0 and elements[element.parent].local_name == "PropertyGroup"
    }
    stem = PurePosixPath(file.path).stem
    name = properties.get("PackageId") or properties.get("AssemblyName") or stem
    name = name.replace("$(MSBuildProjectName)", stem).replace("$(AssemblyName)", properties.get("AssemblyName", stem))
    is_published = "$(" not in name and properties.get("IsPackable", "").lower() != "false"
    used: dict[str, int] = {}
    for element in elements:
        included = element.attributes.get("Include", "")
        if element.local_name == "PackageReference" and included:
            used.setdefault(included.casefold(), element.line)
    return PackageFacts("nuget", name.casefold() if is_published else "", tuple(used.items()))


def _lines(text: str) -> dict[str, int]:
    """The last line of each word."""
    return {word: line for line, written in enumerate(text.splitlines(), 1) for word in _WORD.findall(written)}


_READERS: Mapping[str, Callable[[SourceFile], PackageFacts | None]] = {
    "package.json": _npm,
    "pyproject.toml": _pypi,
    "requirements.txt": _requirements,
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "pom.xml": _maven,
    "composer.json": _composer,
}
