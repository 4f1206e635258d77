"""TypeScript and JavaScript: modules by path."""

from collections import defaultdict
from collections.abc import Iterator
from posixpath import basename

from groundwire_index.repository_edges.confidences import EXACT, WILDCARD
from groundwire_index.repository_edges.full_names import FullNames
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.families.script_modules import ScriptModules, without_ending
from groundwire_ingest.tree.names.rules import (
    MAX_IMPORT_STEPS,
    ExportedName,
    ModuleName,
    NameRules,
    OutsideName,
    TreeLayout,
)
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable


class ScriptNames(NameRules):
    """The exports and imports of modules."""

    invoking = frozenset({"call", "apply"})
    self_names = frozenset({"this"})
    super_names = frozenset({"super"})
    constructor = "constructor"
    common_methods = everyday.SCRIPT
    imports_modules = True
    inside_module = "#"

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        number_at = dict(self.number_at)
        self._generated: defaultdict[str, list[int]] = defaultdict(list)
        for file, facts in enumerate(table.files):
            for name in facts.imported_as:
                if name.endswith(".ts"):
                    number_at.setdefault(name, table.module_of(file))
                else:
                    self._generated[name].append(table.module_of(file))
        self._locations = ScriptModules(number_at, layout.module_files)

    def visible(self, scope: int, name: str) -> Found | None:
        """The declarations and imports of the file's module."""
        return self._export(self.table.module_of(self.table.file_of(scope)), name, MAX_IMPORT_STEPS)

    def member(self, container: Ref, name: str) -> Found | None:
        """The exports of a module; private definitions are not excluded."""
        return self._export(container, name, MAX_IMPORT_STEPS) if isinstance(container, int) else None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Every import of a module of the tree."""
        for item in self.table.files[file].imports:
            resolved = self._module(file, item.module) if item.module else None
            if resolved is not None:
                yield item, resolved

    def exported(self) -> Iterator[ExportedName]:
        """What modules of packages declare and export, those that they export from other modules included."""
        for module in self.module_names():
            for name in self._names_in(module.number, MAX_IMPORT_STEPS):
                resolved = self.member(module.number, name)
                for number in resolved.numbers if resolved is not None else ():
                    is_variable = self.table.is_variable_with_node(number)
                    if is_variable or self.table.definitions[number].construct in ("type", "callable"):
                        confidence = min(module.confidence, resolved.confidence if resolved is not None else EXACT)
                        yield ExportedName(number, f"{module.name}#{name}", module.number, confidence)

    def module_names(self) -> Iterator[ModuleName]:
        """By the names of packages, and by paths below them."""
        return self._locations.names()

    def outside(self, file: int, name: str) -> OutsideName | None:
        """A module of a package, or what is imported from one."""
        item = self.import_of(file, name)
        module = self.outside_module(file, item) if item is not None else None
        if item is None or module is None or not item.name:
            return module
        return OutsideName(module.names.followed_by(f"#{item.name}"), module.answered_by)

    def outside_module(self, file: int, item: Import) -> OutsideName | None:
        """The module of a package: by the path that is written, and without the ending of a file."""
        if not item.module or item.module.startswith((".", "/", "node:")):
            return None
        resolved = self._module(file, item.module)
        names = dict.fromkeys((item.module, without_ending(item.module)))
        return OutsideName(FullNames.of(*names), resolved.numbers if resolved is not None else (), is_module=True)

    def _names_in(self, module: int, steps: int) -> dict[str, None]:
        """The names at the top of a module, and those of modules that it exports as a whole.

        What an index file imports by name counts as exported.
        """
        file = self.table.file_of(module)
        names = dict.fromkeys(self.table.member_names(module))
        if basename(self.table.files[file].path).startswith("index."):
            names |= dict.fromkeys(item.alias for item in self.table.files[file].imports if item.alias)
        for wildcard in self.wildcards_of(file) if steps else ():
            source = self._module(file, wildcard.module)
            for number in source.numbers if source is not None else ():
                names |= self._names_in(number, steps - 1)
        return names

    def sees(self, file: int, number: int) -> bool:
        """True if a definition is in the file or in a module that it imports."""
        other = self.table.module_of(self.table.file_of(number))
        return self.table.file_of(number) == file or any(other in imported.refs for _, imported in self.imported(file))

    def _export(self, module: int, name: str, steps: int) -> Found | None:
        return self.once((module, name), lambda: self._find_export(module, name, steps) if steps else None)

    def _find_export(self, module: int, name: str, steps: int) -> Found | None:
        """A name at the top of a module: declared there, imported, or exported from elsewhere."""
        defined = self.table.members(module, name)
        if defined:
            return Found(defined, EXACT)
        file = self.table.file_of(module)
        item = self.import_of(file, name)
        if item is not None:
            return self._imported(file, item, steps)
        for wildcard in self.wildcards_of(file):
            source = self._module(file, wildcard.module)
            resolved = self._export(source.numbers[0], name, steps - 1) if source else None
            if resolved is not None:
                return resolved.at_most(WILDCARD)
        return None

    def _imported(self, file: int, item: Import, steps: int) -> Found | None:
        """The target of an import; a default import without a default export is the module, as with CommonJS."""
        source = self._module(file, item.module) if item.module else Found((self.table.module_of(file),), EXACT)
        if source is None or not item.name:
            return source
        resolved = self._export(source.numbers[0], item.name, steps - 1)
        if resolved is None and item.name == "default":
            return source
        return resolved and resolved.at_most(source.confidence)

    def _module(self, file: int, specifier: str) -> Found | None:
        return self.once(("module", file, specifier), lambda: self._find_module(file, specifier))

    def _find_module(self, file: int, specifier: str) -> Found | None:
        nearest = self.table.nearest(file, tuple(self._generated.get(specifier, ())))
        resolved = self._locations.find(self.table.files[file].path, specifier)
        return resolved or (Found(nearest, EXACT) if len(nearest) == 1 else None)
