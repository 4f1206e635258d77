"""XAML of WPF, MAUI, WinUI and Avalonia: its styles and templates by key, and what it says of code."""

import re
from collections.abc import Iterator, Mapping, Sequence

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.code_facts import CodeFacts, Definition, Reference, Role
from groundwire_ingest.tree.file_analysis import SourceFile
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.files.xml_files import Element, as_text, element_parts, element_paths, elements_of

_MARKUP = re.compile(r"\{\s*(Binding|x:Bind|CompiledBinding|ReflectionBinding|TemplateBinding)\b([^{}]*)")
_MEMBER = re.compile(r"\s*(?:Path\s*=\s*)?([A-Za-z_][\w.]*(?:\[[^\],]{1,60}\][\w.]*)?)\s*(?:,|$)")
_NAMED_PATH = re.compile(r",\s*Path\s*=\s*([A-Za-z_][\w.]*)")
_OWN_TYPE = re.compile(r"x:DataType\s*=\s*(?:\{x:Type\s+)?([\w:.]+)")
_TYPE = re.compile(r"\s*(?:\{\s*x:Type\s+)?([\w:.]+)\s*+(?:\}\s*)?")
_HANDLER = re.compile(r"[A-Za-z_]\w*")
_EVENT = re.compile(
    r"(?:.*\.)?(?:\w*(?:Click|Clicked|Changed|Changing|Loaded|Unloaded|Pressed|Released|Tapped|Completed|Opened|Closed|"
    r"Closing|Appearing|Disappearing|Selected|Toggled|Navigated|Navigating|Focused|Unfocused|Executed|Initialized|"
    r"Activated|Deactivated|Refreshing|Swiped|Scrolled|Invoked)|"
    r"(?:Preview)?(?:Mouse|Key|Text|Drag|Drop|Touch|Pointer)\w*)"
)
_AUTHORITY = re.compile(r"^(?:pack://[^/]*/|avares://[^/]*/|ms-appx:///?)")
_ASSEMBLY = re.compile(r"^/?[\w.]+;component/")
_SOURCE_ELEMENTS = frozenset({"ResourceDictionary", "ResourceInclude", "MergeResourceInclude", "StyleInclude"})
_OWN_PREFIXES = frozenset({"x", "d", "mc", "xmlns"})


def read_xaml(file: SourceFile) -> FileReading:
    """Elements of several lines as parts, named by `x:Key` or `x:Name` or else their tags, and CodeFacts.

    `Imports` edges lead to the dictionaries and styles that `Source` includes.
    """
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return as_text(file, elements)
    analysis = write_parts(file, element_parts(elements, element_paths(elements)))
    keys = FileReading(analysis).keys_by_line(file)
    facts = _facts(file.path, elements, keys) if any(keys) else None
    return FileReading(analysis, tuple(_includes(file.path, elements)), facts=facts)


def _facts(path: str, elements: Sequence[Element], keys: Sequence[str]) -> CodeFacts:
    """A part of the class that the file states (`x:Class`), in the file's first node, and the C# names that it uses."""
    first = next(filter(None, keys))
    definitions = [Definition(first, "", "", "module", -1, 1)]
    class_name = elements[0].attributes.get("x:Class", "")
    if class_name:
        name = class_name.rpartition(".")[2]
        definitions.append(Definition(first, class_name, name, "type", 0, 1, traits=frozenset({"partial"})))
    scope = len(definitions) - 1
    references = tuple(
        Reference(keys[line - 1] or first, scope, name, line, role)
        for name, line, role in _names(elements, has_class=bool(class_name))
    )
    return CodeFacts(path, "csharp", tuple(definitions), references=references)


def _names(elements: Sequence[Element], *, has_class: bool) -> Iterator[tuple[str, int, Role]]:
    """The names of C#, with their lines: of data types and elements of its own, in bindings, and handlers of events.

    Handlers (`Clicked="OnAdd"`) are methods of the class, so a file without one has none.
    """
    types = _types_in_force(elements)
    values = [
        (element.line, data_type, name, value)
        for element, data_type in zip(elements, types, strict=True)
        for name, value in element.attributes.items()
    ]
    namespaces = {
        name.partition(":")[2]: _clr_namespace(value)
        for _, _, name, value in values
        if name.partition(":")[0] == "xmlns"
    }
    for line, data_type, name, _ in values:
        if name == "x:DataType":
            yield _full_name(data_type, namespaces), line, "type"
    for element in elements:
        if _has_own_prefix(element):
            yield _full_name(element.name, namespaces), element.line, "type"
    for line, data_type, _, value in values:
        for path, stated in _bindings(value):
            if stated or data_type:
                yield f"{_full_name(stated or data_type, namespaces)}.{path}", line, "value"
    for line, _, name, value in values if has_class else ():
        if _EVENT.fullmatch(name) and _HANDLER.fullmatch(value) and value not in {"True", "False"}:
            yield value, line, "value"


def _types_in_force(elements: Sequence[Element]) -> list[str]:
    """The type that `x:DataType` gives at each element: its own, else that of the element around it."""
    types: list[str] = []
    for element in elements:
        match = _TYPE.fullmatch(element.attributes.get("x:DataType", ""))
        above = types[element.parent] if element.parent >= 0 else ""
        types.append(match.group(1) if match is not None else above)
    return types


def _bindings(value: str) -> Iterator[tuple[str, str]]:
    """The paths of `{Binding Path}` and `{x:Bind Path}`, up to an index, and the types that these state themselves."""
    for match in _MARKUP.finditer(value):
        inside = match.group(2)
        member = _MEMBER.match(inside) or _NAMED_PATH.search(inside)
        own_type = _OWN_TYPE.search(inside)
        if member is not None:
            yield member.group(1).partition("[")[0], own_type.group(1) if own_type is not None else ""


def _has_own_prefix(element: Element) -> bool:
    prefix, _, local = element.name.rpartition(":")
    return bool(prefix) and prefix not in _OWN_PREFIXES and "." not in local


def _clr_namespace(uri: str) -> str:
    """`Shop.Views` of `clr-namespace:Shop.Views;assembly=Shop` and `using:Shop.Views`."""
    for start in ("clr-namespace:", "using:"):
        if uri.startswith(start):
            return uri.removeprefix(start).partition(";")[0]
    return ""


def _full_name(name: str, namespaces: Mapping[str, str]) -> str:
    prefix, _, local = name.rpartition(":")
    return ".".join(filter(None, (namespaces.get(prefix, ""), local)))


def _includes(path: str, elements: Sequence[Element]) -> Iterator[PathReference]:
    for element in elements:
        source = element.attributes.get("Source", "")
        if element.local_name in _SOURCE_ELEMENTS and source and "{" not in source:
            written = _ASSEMBLY.sub("", _AUTHORITY.sub("", source))
            yield PathReference(path, (written,), "Imports", element.line)
