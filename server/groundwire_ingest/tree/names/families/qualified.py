"""C#, Java and Kotlin: types by their full names, through the namespace around a place and what its file imports."""

from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

from groundwire_index.repository_edges.confidences import EXACT, WILDCARD
from groundwire_index.repository_edges.full_names import FullNames
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.folders import folder_of, folders_above
from groundwire_ingest.tree.languages.csharp.projects import DotnetProject
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.rules import ExportedName, NameRules, OutsideName, TreeLayout, with_outer
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable

# Languages in which a member says that it overrides another.
_STATING_LANGUAGES = frozenset({"csharp", "kotlin"})

_PLATFORM = frozenset({"System", "java", "javax", "jdk", "kotlin"})


class QualifiedNames(NameRules):
    """A C# type whose declarations in one project are all `partial` is one type; its number is that of the first.

    `global` declarations apply to the files of one .NET project.
    """

    self_names = frozenset({"this"})
    implicit_members = True
    overrides_by_types = True
    # True if namespaces may have functions next to types.
    has_functions: ClassVar[bool] = False

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        # The nearest folder around a file that holds a project; the tree's root where none does.
        self._references = _references_of_folders(layout)
        projects = (
            (folder for folder in folders_above(item.path) if folder in self._references) for item in table.files
        )
        self._project_of = [next(around, "") for around in projects]
        self._referred: dict[str, frozenset[str]] = {}
        self._types: defaultdict[str, tuple[int, ...]] = defaultdict(tuple)
        self._namespace_of = self.namespaces()
        for number, definition in enumerate(table.definitions):
            parent = table.parent_of(number)
            is_function = definition.construct == "callable"
            if parent >= 0 and (not is_function or (self.has_functions and table.parent_of(parent) < 0)):
                self._types[definition.symbol] += (number,)
        for symbol, numbers in self._types.items():
            if len(numbers) > 1:
                self._types[symbol] = self._with_parts_joined(numbers)
        self._namespaces = {outer for namespace in self._namespace_of for outer in with_outer(namespace)}
        self._project_wide: defaultdict[str, dict[str, Import]] = defaultdict(dict)
        for file, facts in enumerate(table.files):
            for item in facts.imports:
                if item.project_wide and item.name == "*":
                    self._project_wide[self._project_of[file]].setdefault(item.module, item)
        self._seen: dict[int, frozenset[str]] = {}
        self._imported_namespaces: dict[int, tuple[tuple[str, ...], tuple[int, ...]]] = {}

    def visible(self, scope: int, name: str) -> Found | None:
        """An imported name, a type of the namespaces around, one of an imported namespace, or a namespace."""
        return self.once((scope, name), lambda: self._of_project(scope, self._find_visible(scope, name)))

    def _of_project(self, scope: int, resolved: Found | None) -> Found | None:
        """Of definitions of one name those in the project of a scope, else those in projects that it refers to.

        All of them where there are none in these.
        """
        if resolved is None or len(resolved.numbers) < 2:
            return resolved
        project = self._project_of[self.table.file_of(scope)]
        projects = {number: self._project_of[self.table.file_of(number)] for number in resolved.numbers}
        in_project = tuple(number for number, other in projects.items() if other == project)
        near = in_project or tuple(number for number, other in projects.items() if other in self._all_referred(project))
        return Found(near, resolved.confidence) if near else resolved

    def _all_referred(self, project: str) -> frozenset[str]:
        """The projects that a project refers to, and those that these refer to."""
        if project not in self._referred:
            seen: set[str] = set()
            pending = [project]
            while pending:
                fresh = self._references.get(pending.pop(), frozenset()) - seen
                seen |= fresh
                pending += sorted(fresh)
            self._referred[project] = frozenset(seen)
        return self._referred[project]

    def _find_visible(self, scope: int, name: str) -> Found | None:
        file = self.table.file_of(scope)
        item = self.import_of(file, name)
        if item is not None:
            return self._imported(item)
        for namespace in with_outer(self._namespace_of[scope]):
            resolved = self.member(namespace, name)
            if resolved is not None:
                in_file = any(self.table.file_of(number) == file for number in resolved.numbers)
                return resolved if in_file else resolved.at_most(WILDCARD)
        for item in self._wildcards_in_force(file):
            members = (
                member for number in self._types.get(item.module, ()) for member in self.table.members(number, name)
            )
            numbers = self._types.get(f"{item.module}.{name}", ()) or tuple(members)
            if numbers:
                return Found(numbers, WILDCARD)
        return self.member("", name)

    def member(self, container: Ref, name: str) -> Found | None:
        """A type or namespace in a namespace, or a member of a type."""
        if isinstance(container, int):
            numbers = self.table.members(container, name)
            return Found(numbers, EXACT) if numbers else None
        full_name = f"{container}.{name}" if container else name
        if self._types.get(full_name):
            return Found(self._types[full_name], EXACT)
        return Found((full_name,), EXACT) if full_name in self._namespaces else None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Imports of a type, or of the static members of one."""
        for item in self.table.files[file].imports:
            numbers = self._types.get(item.module, ()) if item.name == "*" else ()
            resolved = Found(numbers, EXACT) if numbers else self._imported(item)
            if resolved is not None and resolved.numbers:
                yield item, resolved

    def exported(self) -> Iterator[ExportedName]:
        """Types, and functions of packages."""
        for symbol, numbers in self._types.items():
            for number in numbers:
                if self.table.definitions[number].construct in ("type", "callable"):
                    yield ExportedName(number, symbol, self.table.module_of(self.table.file_of(number)))

    def outside(self, file: int, name: str) -> OutsideName | None:
        """What is imported by name, else a type of the namespaces that are imported; none of the platform's own."""
        item = self.import_of(file, name)
        if item is not None:
            return self.outside_module(file, item)
        if not name[:1].isupper():
            return None
        if file not in self._imported_namespaces:
            self._imported_namespaces[file] = self._namespaces_imported_by(file)
        beginnings, lines = self._imported_namespaces[file]
        return OutsideName(FullNames(beginnings, name), confidence=WILDCARD, import_lines=lines) if beginnings else None

    def _namespaces_imported_by(self, file: int) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """What full names of types in these namespaces begin with, and the lines of their imports in the file."""
        in_file = frozenset(self.wildcards_of(file))
        wildcards = [item for item in self._wildcards_in_force(file) if not _is_of_platform(item.module)]
        beginnings = tuple(f"{item.module}." for item in wildcards)
        return beginnings, tuple(item.line if item in in_file else 0 for item in wildcards)

    def outside_module(self, file: int, item: Import) -> OutsideName | None:
        """The type, or the member of a type, that an import names."""
        if item.name in ("", "*") or _is_of_platform(item.module):
            return None
        resolved = self._imported(item)
        full_name = f"{item.module}.{item.name}" if item.module else item.name
        return OutsideName(FullNames.of(full_name), resolved.numbers if resolved is not None else ())

    def sees(self, file: int, number: int) -> bool:
        """True if a definition is in the file, in a namespace around or imported, or in an imported type."""
        if self.table.file_of(number) == file:
            return True
        if file not in self._seen:
            first, imports = self.table.module_of(file), self.table.files[file].imports
            definitions_of_file = range(first, first + len(self.table.files[file].definitions))
            around = {outer for inner in definitions_of_file for outer in with_outer(self._namespace_of[inner])}
            named = {f"{item.module}.{item.name}" for item in imports if item.name != "*"}
            wide = {item.module for item in self._wildcards_in_force(file)}
            self._seen[file] = frozenset(around | named | wide) - {""}
        type_number = self.table.enclosing_type(number)
        symbol = self.table.definitions[number if type_number is None else type_number].symbol
        return bool(self._seen[file] & {symbol, self._namespace_of[number]})

    def namespace_import(self, file: int, number: int) -> Import | None:
        """The import of the namespace that holds a definition."""
        namespace = self._namespace_of[number]
        return next((item for item in self.wildcards_of(file) if item.module == namespace), None)

    def may_override(self, member: int, overridden: int, is_listed: bool) -> bool:
        """In Kotlin only what says `override`; in C# so, too, and what implements a member of an interface.

        Other members of C# hide those of a base class, and do not implement the interfaces of that.
        """
        if not super().may_override(member, overridden, is_listed):
            return False
        definitions = self.table.definitions
        language = self.table.files[self.table.file_of(member)].language
        if "override" in definitions[member].traits or language not in _STATING_LANGUAGES:
            return True
        base = self.table.owner_of(overridden)
        return language == "csharp" and is_listed and base >= 0 and "interface" in definitions[base].traits

    def _with_parts_joined(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """The declarations of one name, of parts of a type in one project the first alone."""
        by_project: dict[str, list[int]] = {}
        for number in numbers:
            by_project.setdefault(self._project_of[self.table.file_of(number)], []).append(number)
        kept: list[int] = []
        for parts in by_project.values():
            if len(parts) > 1 and all("partial" in self.table.definitions[number].traits for number in parts):
                self.table.join(parts)
                self.parts += [(parts[0], other) for other in parts[1:]]
                kept.append(parts[0])
            else:
                kept.extend(parts)
        return tuple(sorted(kept))

    def _wildcards_in_force(self, file: int) -> tuple[Import, ...]:
        """The file's own imports of namespaces, and those of its project."""
        return (*self.wildcards_of(file), *self._project_wide.get(self._project_of[file], {}).values())

    def _imported(self, item: Import) -> Found | None:
        """The type, or the static member of a type, that an import names."""
        if item.name == "*":
            return None
        numbers = self._types.get(f"{item.module}.{item.name}" if item.module else item.name, ())
        owners = self._types.get(item.module, ())
        numbers = numbers or tuple(member for owner in owners for member in self.table.members(owner, item.name))
        return Found(numbers, EXACT) if numbers else None


def _references_of_folders(layout: TreeLayout) -> dict[str, frozenset[str]]:
    """The folders with projects of .NET, each with the folders of the projects that its own refer to."""
    references: dict[str, frozenset[str]] = {}
    for path, project in layout.stated(DotnetProject).items():
        references[folder_of(path)] = references.get(folder_of(path), frozenset()) | project.references
    return references


class CSharpNames(QualifiedNames):
    """C#."""

    super_names = frozenset({"base"})
    invoking = frozenset({"Invoke", "InvokeAsync", "DynamicInvoke"})
    common_methods = everyday.CSHARP

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        # A file of top-level statements is compiled into the partial `Program` next to it.
        programs = {
            folder_of(self.table.path_of(number)): number
            for number, definition in enumerate(self.table.definitions)
            if definition.symbol == "Program" and "partial" in definition.traits
        }
        for file in range(len(self.table.files)):
            module, folder = self.table.module_of(file), folder_of(self.table.files[file].path)
            if "partial" in self.table.definitions[module].traits and folder in programs:
                self.parts.append((module, programs[folder]))


class JavaNames(QualifiedNames):
    """Java and Kotlin, which see each other."""

    super_names = frozenset({"super"})
    invoking = frozenset({"invoke", "accept", "apply", "run", "test", "get", "call", "applyAsInt", "applyAsLong"})
    callable_types = frozenset(
        """Function0 Function1 Function2 Consumer BiConsumer Supplier Function BiFunction Predicate BiPredicate Runnable
        Callable UnaryOperator BinaryOperator IntFunction ToIntFunction ToLongFunction BooleanSupplier""".split()
    )
    has_functions = True
    call_name = "invoke"
    own_instances = frozenset({"INSTANCE", "Companion"})
    giving_itself = frozenset({"also", "apply", "takeIf", "takeUnless"})
    common_methods = everyday.JAVA | everyday.KOTLIN

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        # The classes that Java code knows the functions of Kotlin's files by, such as `shop.TextKt` of Text.kt.
        self._facades: dict[str, int] = {}
        for number in range(len(table.definitions)):
            parent, path = table.parent_of(number), table.path_of(number)
            if parent >= 0 and table.parent_of(parent) < 0 and path.endswith(".kt"):
                stem = path.rpartition("/")[2].removesuffix(".kt")
                name = f"{stem[:1].upper()}{stem[1:]}Kt"
                full_name = ".".join(filter(None, (self._namespace_of[number], name)))
                self._facades.setdefault(full_name, parent)

    def visible(self, scope: int, name: str) -> Found | None:
        """A Kotlin script, such as one of Gradle, is compiled by itself: it sees what it declares and imports.

        Java code also sees the classes of files with functions.
        """
        resolved = super().visible(scope, name)
        file = self.table.file_of(scope)
        if resolved is None and name.endswith("Kt"):
            item = self.import_of(file, name)
            packages = (self._namespace_of[scope], *(wildcard.module for wildcard in self.wildcards_of(file)))
            names = [f"{item.module}.{item.name}"] if item is not None else []
            names += (f"{package}.{name}" if package else name for package in packages)
            number = next((self._facades[full] for full in names if full in self._facades), None)
            return Found((number,), WILDCARD) if number is not None else None
        if resolved is None or not self.table.files[file].path.endswith(".kts") or self.import_of(file, name):
            return resolved
        in_file = tuple(number for number in resolved.numbers if self.table.file_of(number) == file)
        return Found(in_file, resolved.confidence) if in_file else None

    def accessed(self, method: str) -> tuple[str, ...]:
        """The component of a record, or the field that a getter is generated for."""
        name = next((method[len(prefix) :] for prefix in ("get", "is") if method.startswith(prefix)), "")
        return (method, name[:1].lower() + name[1:]) if name else (method,)


def _is_of_platform(namespace: str) -> bool:
    """True for what comes with .NET, Java or Kotlin."""
    return namespace.partition(".")[0] in _PLATFORM
