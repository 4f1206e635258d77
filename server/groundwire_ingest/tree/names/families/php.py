"""PHP: types and functions by their full names, through the file's namespace and what it imports."""

from collections.abc import Iterator

from groundwire_index.repository_edges.confidences import EXACT, WILDCARD
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.families.qualified import QualifiedNames
from groundwire_ingest.tree.names.table import Found


class PhpNames(QualifiedNames):
    """A name is imported or of the file's own namespace; a function may also be a global one."""

    self_names = frozenset({"$this", "self", "static"})
    super_names = frozenset({"parent"})
    implicit_members = False
    has_overloads = False
    overrides_by_types = False
    has_functions = True
    constructor = "__construct"
    common_methods = everyday.PHP

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
        of_all = tuple(
            candidate
            for candidate in self._types.get(name, ())
            if self.table.definitions[candidate].construct == "callable"
        )
        resolved = self.member(self._namespace_of[scope], name) or (Found(of_all, EXACT) if of_all else None)
        in_file = resolved is not None and any(self.table.file_of(number) == file for number in resolved.numbers)
        return resolved if in_file or resolved is None else resolved.at_most(WILDCARD)

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Imports of types and functions, and files that are included by a path from the file's own folder."""
        yield from super().imported(file)
        for item in self.table.files[file].imports:
            module = self.module_at(file, item.module.lstrip("/")) if not item.name else None
            if module is not None:
                yield item, Found((module,), WILDCARD)

    def is_type_name(self, name: str) -> bool:
        """All but variables and calls."""
        return not name.startswith("$") and not name.endswith("()")
