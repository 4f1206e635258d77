"""Python: modules by dotted name, relative or from a folder that may stand on `sys.path`."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from groundwire_server.ingest.tree.facts import Import
from groundwire_server.ingest.tree.names.rules import EXACT, MAX_IMPORT_STEPS, WILDCARD, NameRules
from groundwire_server.ingest.tree.names.table import Found, Ref, SymbolTable

_MODULE_SUFFIXES = (".py", "/__init__.py", ".pyi", "/__init__.pyi")


class PythonNames(NameRules):
    """Which folder is on `sys.path` is not in the tree. Tried in turn are the folder around the importing
    file's outermost package, the folders around that one, and any other folder that holds a package of the
    name; a folder without modules of the name is passed over.
    """

    languages = frozenset({"python"})
    self_names = frozenset({"self", "cls"})
    super_names = frozenset({"super()"})
    implicit_members = False
    common_methods = frozenset(
        """add append clear close copy count decode discard encode endswith extend find flush format get group
        groups index insert items join keys lower lstrip match open partition pop popitem read readline readlines
        remove replace reverse rfind rpartition rsplit rstrip search seek setdefault sort split splitlines start
        startswith strip sub tell title translate union update upper values write writelines""".split()
    )

    def __init__(self, table: SymbolTable) -> None:
        super().__init__(table)
        self._file_at = {facts.path: number for number, facts in enumerate(table.files)}
        self._folders = {folder for facts in table.files for folder in _folders_of(facts.path)}
        self._roots = [self._package_root(facts.path) for facts in table.files]
        self._top_level: defaultdict[str, set[str]] = defaultdict(set)
        for facts, root in zip(table.files, self._roots, strict=True):
            inside = facts.path[len(root) :].split("/")[0]
            self._top_level[inside.removesuffix(".py").removesuffix(".pyi")].add(root)
        self._modules = cache(self._find_modules)

    def visible(self, scope: int, name: str) -> Found | None:
        file = self.table.file_of(scope)
        return self._of_module(self.table.module_of(file), name, MAX_IMPORT_STEPS)

    def member(self, container: Ref, name: str) -> Found | None:
        if isinstance(container, str):
            return self._located(container, (name,), EXACT)
        return self._of_module(container, name, MAX_IMPORT_STEPS)

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        for item in self.table.files[file].imports:
            module = self._modules(file, item.module)
            if module is None:
                continue
            if item.name not in ("", "*"):
                module = self._submodule(module, item.name) or module
            yield item, module

    def sees(self, file: int, number: int) -> bool:
        return self.table.file_of(number) in self._seen_files(file)

    def constructor_name(self, type_number: int) -> str:
        return "__init__"
