"""TypeScript and JavaScript: modules by path."""

from collections import defaultdict
from collections.abc import Iterator

from groundwire_index.ends.confidences import EXACT, WILDCARD
from groundwire_ingest.tree.facts import Import
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.families.script_modules import ScriptModules
from groundwire_ingest.tree.names.rules import MAX_IMPORT_STEPS, NameRules, TreeLayout
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable


class ScriptNames(NameRules):
    """The exports and imports of modules."""

    invoking = frozenset({"call", "apply"})
    self_names = frozenset({"this"})
    super_names = frozenset({"super"})
    constructor = "constructor"
    common_methods = everyday.SCRIPT

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
