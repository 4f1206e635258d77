"""PHP: types and functions by their full names, through the file's namespace and what it imports."""

import posixpath
from collections.abc import Iterator

from groundwire_ingest.tree.facts import Import
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.families.qualified import QualifiedNames
from groundwire_ingest.tree.names.layout import TreeLayout
from groundwire_ingest.tree.names.rules import EXACT, WILDCARD
from groundwire_ingest.tree.names.table import Found, SymbolTable


class PhpNames(QualifiedNames):
    """A name is imported or of the file's own namespace; a function may also be a global one."""

    self_names = frozenset({"$this", "self", "static"})
    super_names = frozenset({"parent"})
    implicit_members = False
    has_overloads = False
    has_functions = True
    constructor = "__construct"
    common_methods = everyday.PHP

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        self._number_at = {facts.path: table.module_of(file) for file, facts in enumerate(table.files)}

    def visible(self, scope: int, name: str) -> Found | None:
        """An imported name, one of the namespace around, or a global function; empty for the global namespace."""
        if not name:
            return Found(("",), EXACT)
        around = self.table.enclosing_type(scope)
        if name in self.self_names and around is not None:
            return Found((around,), EXACT)
        file = self.table.file_of(scope)
        item = self.import_of(file, name)
        if item is not None:
            full_name = f"{item.module}.{item.name}" if item.module else item.name
            return self._imported(item) or (Found((full_name,), EXACT) if full_name in self._namespaces else None)
        found = self.member(self._namespace_of[scope], name) or self._global_function(name)
        in_file = found is not None and any(self.table.file_of(number) == file for number in found.numbers)
        return found if in_file or found is None else found.at_most(WILDCARD)

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Imports of types and functions, and files that are included by a path from the file's own folder."""
        yield from super().imported(file)
        folder = posixpath.dirname(self.table.files[file].path)
        for item in self.table.files[file].imports:
            path = posixpath.normpath(posixpath.join(folder, item.module.lstrip("/"))) if not item.name else ""
            if path in self._number_at:
                yield item, Found((self._number_at[path],), WILDCARD)

    def is_type_name(self, name: str) -> bool:
        """All but variables and calls."""
        return not name.startswith("$") and not name.endswith("()")

    def _global_function(self, name: str) -> Found | None:
        numbers = self._types.get(name, ())
        functions = tuple(number for number in numbers if self.table.definitions[number].construct == "callable")
        return Found(functions, EXACT) if functions else None
