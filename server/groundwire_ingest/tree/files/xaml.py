"""XAML of WPF, MAUI, WinUI and Avalonia: its styles and templates by key, and what it says of code."""

import re
from collections.abc import Iterator, Sequence

from groundwire_ingest.records import SkippedFile
from groundwire_ingest.tree.files.facts import Binding, XamlFacts
from groundwire_ingest.tree.files.parts import write_parts
from groundwire_ingest.tree.files.reading import FileReading, PathReference
from groundwire_ingest.tree.files.xml_files import Element, as_text, element_parts, element_paths, elements_of
from groundwire_ingest.tree.model import SourceFile

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
    """Elements of several lines as parts, named by `x:Key` or `x:Name` or else their tags, and XamlFacts.

    `Imports` edges lead to the dictionaries and styles that `Source` includes.
    """
    elements = elements_of(file)
    if isinstance(elements, SkippedFile):
        return as_text(file, elements)
    types = _types_in_force(elements)
    analysis = write_parts(file, element_parts(elements, element_paths(elements)))
    return FileReading(analysis, tuple(_references(file.path, elements)), facts=_facts(elements, types))


def _types_in_force(elements: Sequence[Element]) -> list[str]:
    """The type that `x:DataType` gives at each element: its own, else that of the element around it."""
    types: list[str] = []
    for element in elements:
        match = _TYPE.fullmatch(element.attributes.get("x:DataType", ""))
        above = types[element.parent] if element.parent >= 0 else ""
        types.append(match.group(1) if match is not None else above)
    return types


def _facts(elements: Sequence[Element], types: Sequence[str]) -> XamlFacts:
    root = elements[0]
    values = [
        (element, data_type, name, value)
        for element, data_type in zip(elements, types, strict=True)
        for name, value in element.attributes.items()
    ]
    stated = [(types[index], element) for index, element in enumerate(elements) if "x:DataType" in element.attributes]
    return XamlFacts(
        class_name=root.attributes.get("x:Class", ""),
        namespaces=tuple(
            (name.partition(":")[2], value)
            for _, _, name, value in values
            if name == "xmlns" or name.startswith("xmlns:")
        ),
        data_types=tuple((data_type, element.line) for data_type, element in stated),
        bindings=tuple(
            binding for element, data_type, _, value in values for binding in _bindings(value, data_type, element.line)
        ),
        handlers=tuple(
            (value, element.line)
            for element, _, name, value in values
            if _EVENT.fullmatch(name) and _HANDLER.fullmatch(value) and value not in {"True", "False"}
        ),
        elements=tuple((element.name, element.line) for element in elements if _has_own_prefix(element)),
    )


def _bindings(value: str, data_type: str, line: int) -> Iterator[Binding]:
    for match in _MARKUP.finditer(value):
        inside = match.group(2)
        member = _MEMBER.match(inside) or _NAMED_PATH.search(inside)
        own = _OWN_TYPE.search(inside)
        if member is not None:
            yield Binding(member.group(1), own.group(1) if own is not None else data_type, line)


def _has_own_prefix(element: Element) -> bool:
    prefix, _, local = element.name.rpartition(":")
    return bool(prefix) and prefix not in _OWN_PREFIXES and "." not in local


def _references(path: str, elements: Sequence[Element]) -> Iterator[PathReference]:
    for element in elements:
        source = element.attributes.get("Source", "")
        if element.local_name in _SOURCE_ELEMENTS and source and "{" not in source:
            written = _ASSEMBLY.sub("", _AUTHORITY.sub("", source))
            yield PathReference(path, (written,), "Imports", element.line)
