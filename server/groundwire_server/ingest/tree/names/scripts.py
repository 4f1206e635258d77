"""TypeScript and JavaScript: modules by path."""

import posixpath
from collections.abc import Iterator

from groundwire_server.ingest.tree.facts import Import
from groundwire_server.ingest.tree.names import common_methods as everyday
from groundwire_server.ingest.tree.names.rules import EXACT, MAX_IMPORT_STEPS, WILDCARD, NameRules
from groundwire_server.ingest.tree.names.table import Found, Ref, SymbolTable

_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs")
_COMPILED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}


class ScriptNames(NameRules):
    """Relative paths as Node and the TypeScript compiler resolve them. A path that is not relative may start at
    any folder around the importing file, `@/` standing for that folder's `src`; what bundlers and
    `tsconfig.json` say beyond that is not read.
    """

    languages = frozenset({"typescript", "javascript"})
    self_names = frozenset({"this"})
    super_names = frozenset({"super"})
    implicit_members = False
    common_methods = everyday.SCRIPT

    def __init__(self, table: SymbolTable) -> None:
        super().__init__(table)
        self._number_at = {facts.path: table.module_of(file) for file, facts in enumerate(table.files)}
        self._modules: dict[tuple[int, str], Found | None] = {}
        self._exports: dict[tuple[int, str], Found | None] = {}

    def visible(self, scope: int, name: str) -> Found | None:
        """What a function around the place declares, or what the file's module declares or imports."""
        number = scope
        while self.table.definitions[number].construct != "module":
            local = tuple(one for one in self.table.members(number, name) if self._is_local(one))
            if local:
                return Found(local, EXACT)
            number = self.table.parent_of(number)
        return self._export(self.table.module_of(self.table.file_of(scope)), name, MAX_IMPORT_STEPS)

    def member(self, container: Ref, name: str) -> Found | None:
        """What a module exports; what it keeps to itself is not told apart."""
        return self._export(container, name, MAX_IMPORT_STEPS) if isinstance(container, int) else None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Every import of a module of the tree."""
        for item in self.table.files[file].imports:
            found = self._module(file, item.module) if item.module else None
            if found is not None:
                yield item, found

    def sees(self, file: int, number: int) -> bool:
        """Whether a definition is in the file or in a module that it imports."""
        other = self.table.module_of(self.table.file_of(number))
        return self.table.file_of(number) == file or any(other in found.refs for _, found in self.imported(file))

    def constructor_name(self, type_number: int) -> str:
        """`constructor`."""
        return "constructor"

    def _is_local(self, number: int) -> bool:
        return "local" in self.table.definitions[number].traits

    def _export(self, module: int, name: str, steps: int) -> Found | None:
        key = (module, name)
        if key not in self._exports:
            self._exports[key] = None  # what an import cycle finds on its way round
            self._exports[key] = self._find_export(module, name, steps) if steps else None
        return self._exports[key]

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
            found = self._export(source.numbers[0], name, steps - 1) if source else None
            if found is not None:
                return found.at_most(WILDCARD)
        return None

    def _imported(self, file: int, item: Import, steps: int) -> Found | None:
        """What an import brings; a default import of a module without one is the module, as with CommonJS."""
        source = self._module(file, item.module) if item.module else Found((self.table.module_of(file),), EXACT)
        if source is None or not item.name:
            return source
        found = self._export(source.numbers[0], item.name, steps - 1)
        if found is None and item.name == "default":
            return source
        return found and found.at_most(source.confidence)

    def _module(self, file: int, specifier: str) -> Found | None:
        key = (file, specifier)
        if key not in self._modules:
            self._modules[key] = self._find_module(file, specifier)
        return self._modules[key]

    def _find_module(self, file: int, specifier: str) -> Found | None:
        folder = posixpath.dirname(self.table.files[file].path)
        if specifier.startswith("."):
            number = self._at(posixpath.normpath(posixpath.join(folder, specifier)))
            return None if number is None else Found((number,), EXACT)
        inside = f"src/{specifier[2:]}" if specifier.startswith("@/") else specifier
        while "/" in inside:
            number = self._at(posixpath.join(folder, inside))
            if number is not None:
                return Found((number,), WILDCARD)
            if not folder:
                break
            folder = posixpath.dirname(folder)
        return None

    def _at(self, path: str) -> int | None:
        """The module at a path, with the ending that is written, that a compiler puts, or none."""
        stem, suffix = posixpath.splitext(path)
        candidates = [path, *(stem + source for source in _COMPILED.get(suffix, ()))]
        candidates += [path + ending for ending in _SUFFIXES] + [f"{path}/index{ending}" for ending in _SUFFIXES]
        found = (self._number_at.get(candidate.removeprefix("./")) for candidate in candidates)
        return next((number for number in found if number is not None), None)
