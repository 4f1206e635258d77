"""Python: modules by dotted name, relative or from a folder that may be on `sys.path`."""

import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from posixpath import basename

from groundwire_index.repository_edges.confidences import EXACT, INFERRED, WILDCARD
from groundwire_index.repository_edges.full_names import FullNames
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.folders import folder_of, folders_above, path_in
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.rules import (
    MAX_IMPORT_STEPS,
    ExportedName,
    ModuleName,
    NameRules,
    OutsideName,
    TreeLayout,
)
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable

_MODULE_SUFFIXES = (".py", "/__init__.py", ".pyi", "/__init__.pyi")


class PythonNames(NameRules):
    """The names of Python, whose folders on `sys.path` are not in the tree.

    So these are tried in turn: the folder around the importing file's outermost package, the folders around that one,
    and any other folder. The last must be the only one with a top-level module or package of the name. A package whose
    `__init__.py` is blank has no node; like a folder without one it is known by its path.
    """

    self_names = frozenset({"self", "cls"})
    super_names = frozenset({"super()"})
    has_overloads = False
    call_name = "__call__"
    constructor = "__init__"
    common_methods = everyday.PYTHON
    imports_modules = True

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        self._folders = {folder for facts in table.files for folder in folders_above(facts.path)}
        # The folder around the outermost package that holds a file: what `sys.path` would have to name. The tree's root
        # when that is a package itself, since what is around it is unknown.
        packages = {folder_of(path) for path in layout.paths if path.rpartition("/")[2] == "__init__.py"}
        around = (
            (outer_folder for outer_folder in folders_above(item.path) if outer_folder not in packages)
            for item in table.files
        )
        self._root_of = [next(folders, "") for folders in around]
        self._roots_with: defaultdict[str, set[str]] = defaultdict(set)
        for facts, root in zip(table.files, self._root_of, strict=True):
            first = facts.path.removeprefix(root + "/").split("/")[0]
            self._roots_with[first.partition(".")[0]].add(root)
        self._seen: dict[int, frozenset[int]] = {}
        self._names = {name.partition(".")[0] for facts in table.files for name in facts.path.split("/")}

    def visible(self, scope: int, name: str) -> Found | None:
        """An attribute of the file's own module."""
        return self.member(self.table.module_of(self.table.file_of(scope)), name)

    def member(self, container: Ref, name: str) -> Found | None:
        """An attribute of a module, or a module in a folder."""
        return self._member(container, name, MAX_IMPORT_STEPS)

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Every import of a module of the tree; `from package import module` names the latter."""
        for item in self.table.files[file].imports:
            module = self._module(file, item.module)
            if module is not None and item.name not in ("", "*"):
                module = self._submodule(module.refs[0], item.name) or module
            if module is not None:
                yield item, module

    def exported(self) -> Iterator[ExportedName]:
        """The public names of modules, and what packages import from other modules of the tree."""
        for module in self.module_names():
            for name in self._names_in(module.number, MAX_IMPORT_STEPS):
                resolved = None if name.startswith("_") else self.member(module.number, name)
                for number in resolved.numbers if resolved is not None else ():
                    is_variable = self.table.is_variable_with_node(number)
                    if is_variable or self.table.definitions[number].construct in ("type", "callable"):
                        confidence = min(module.confidence, resolved.confidence if resolved is not None else EXACT)
                        yield ExportedName(number, f"{module.name}.{name}", module.number, confidence)

    def module_names(self) -> Iterator[ModuleName]:
        """By the names that they have from the folder around their outermost package."""
        for file, facts in enumerate(self.table.files):
            root = self._root_of[file]
            path = facts.path.removeprefix(f"{root}/" if root else "").rpartition(".")[0]
            name = path.removesuffix("__init__").strip("/").replace("/", ".")
            if name:
                yield ModuleName(self.table.module_of(file), name, WILDCARD)
            if path_in(facts.definitions[0].key).endswith(".proto"):
                # A compiler may put the module at the path of the .proto file from any folder above it.
                folders = facts.path.rpartition(".")[0].split("/")
                for start in range(len(folders) - 1):
                    yield ModuleName(self.table.module_of(file), ".".join(folders[start:]), WILDCARD)

    def outside(self, file: int, name: str) -> OutsideName | None:
        """A module, or what is imported from one; none of Python's own."""
        item = self.import_of(file, name)
        if item is None or _is_own_or_of_python(item):
            return None
        name = f"{item.module}.{item.name}" if item.name else item.module
        return OutsideName(FullNames.of(name), self._answering(file, item), is_module=not item.name)

    def outside_module(self, file: int, item: Import) -> OutsideName | None:
        """The module that is imported, or that something is imported from; `from package import module` may be both."""
        if _is_own_or_of_python(item):
            return None
        is_named = item.name not in ("", "*")
        names = (f"{item.module}.{item.name}", item.module) if is_named else (item.module,)
        return OutsideName(FullNames.of(*names), self._answering(file, item), is_module=True)

    def _answering(self, file: int, item: Import) -> tuple[int, ...]:
        """The module of the tree that an import is of."""
        module = self._module(file, item.module)
        if module is not None and not module.numbers and item.name not in ("", "*"):
            module = self._submodule(module.refs[0], item.name)
        return module.numbers if module is not None else ()

    def _names_in(self, module: int, steps: int) -> dict[str, None]:
        """The names that a module defines; for a package also those that it imports, as a rule for others."""
        file = self.table.file_of(module)
        names = dict.fromkeys(self.table.member_names(module))
        if not basename(self.table.files[file].path).startswith("__init__."):
            return names
        names |= dict.fromkeys(item.alias for item in self.table.files[file].imports if item.alias)
        sources = (self._module(file, item.module) for item in self.wildcards_of(file)) if steps else ()
        for source in sources:
            for number in source.numbers if source is not None else ():
                module_number = self.table.module_of(self.table.file_of(number))
                names |= self._names_in(module_number, steps - 1)
        return names

    def sees(self, file: int, number: int) -> bool:
        """True if a definition is in the file or in a module that it imports."""
        if file not in self._seen:
            modules = [number for _, imported in self.imported(file) for number in imported.numbers]
            self._seen[file] = frozenset(map(self.table.file_of, modules)) | {file}
        return self.table.file_of(number) in self._seen[file]

    def module_in(self, file: int, dotted: str) -> tuple[Found, str] | None:
        """The longest beginning of the name that is a module; a colon follows the whole name of one."""
        module, colon, members = dotted.partition(":")
        if module.partition(".")[0] not in self._names:
            return None
        while module:
            resolved = self._module(file, module)
            if resolved is not None and resolved.numbers:
                return resolved, members
            if colon:
                break
            module, _, last = module.rpartition(".")
            members = f"{last}.{members}"
        return None

    def _member(self, container: Ref, name: str, steps: int) -> Found | None:
        """An attribute of a module: defined, imported by name, a submodule, or from a wildcard import."""
        if isinstance(container, str):
            return self._located(container, (name,))
        return self.once((container, name), lambda: self._attribute(container, name, steps) if steps else None)

    def _attribute(self, module: int, name: str, steps: int) -> Found | None:
        defined = self.table.members(module, name)
        file = self.table.file_of(module)
        item = self.import_of(file, name)
        imported = self._named_by(file, item, steps) if item else None
        if defined:
            # A definition below an import of its name is the fallback for a failing import.
            is_fallback = item is not None and item.line < self.table.definitions[defined[0]].line
            return imported.at_most(INFERRED) if imported and is_fallback else Found(defined, EXACT)
        resolved = imported or self._submodule(module, name)
        if resolved is not None or item is not None:
            return resolved
        for wildcard in self.wildcards_of(file):
            source = self._module(file, wildcard.module)
            resolved = self._member(source.refs[0], name, steps - 1) if source else None
            if resolved is not None:
                return resolved.at_most(WILDCARD)
        return None

    def _named_by(self, file: int, item: Import, steps: int) -> Found | None:
        """The target of an import, when it is in the tree."""
        source = self._module(file, item.module)
        if source is None:
            return None
        resolved = self._member(source.refs[0], item.name, steps - 1) if item.name else source
        resolved = resolved or self._submodule(source.refs[0], item.name)
        return resolved and resolved.at_most(source.confidence)

    def _submodule(self, module: Ref, name: str) -> Found | None:
        if isinstance(module, str):
            return self._located(module, (name,))
        folder, _, file_name = self.table.path_of(module).rpartition("/")
        return self._located(folder, (name,)) if file_name.startswith("__init__.") else None

    def _module(self, file: int, dotted: str) -> Found | None:
        """The one module, or folder of modules, that a dotted name means in a file."""
        find = self._relative if dotted.startswith(".") else self._absolute
        return self.once(("module", file, dotted), lambda: find(file, dotted))

    def _relative(self, file: int, dotted: str) -> Found | None:
        name = dotted.lstrip(".")
        folders, dots = self.table.files[file].path.split("/"), len(dotted) - len(name)
        parts = name.split(".") if name else ()
        return self._located("/".join(folders[:-dots]), parts) if dots <= len(folders) else None

    def _absolute(self, file: int, dotted: str) -> Found | None:
        parts = dotted.split(".")
        root = self._root_of[file]
        near = [self._located(folder, parts) for folder in (root, *folders_above(root))]
        resolved = [item for item in near if item is not None]
        modules = [item for item in resolved if item.numbers]
        if modules:
            return modules[0]
        elsewhere = (self._located(folder, parts) for folder in sorted(self._roots_with.get(parts[0], ())))
        numbers = tuple(number for item in elsewhere if item for number in item.numbers)
        nearest = self.table.nearest(file, numbers)
        if len(nearest) == 1:
            return Found(nearest, WILDCARD)
        return resolved[0] if resolved else None

    def _located(self, folder: str, parts: Sequence[str]) -> Found | None:
        path = "/".join(filter(None, (folder, *parts)))
        for suffix in _MODULE_SUFFIXES:
            candidate = (path + suffix).removeprefix("/")
            if candidate in self.number_at:
                return Found((self.number_at[candidate],), EXACT)
        return Found((path,), EXACT) if path in self._folders else None


def _is_own_or_of_python(item: Import) -> bool:
    """True for an import that is relative, or of a module that comes with Python."""
    return item.module.startswith(".") or item.module.partition(".")[0] in sys.stdlib_module_names
