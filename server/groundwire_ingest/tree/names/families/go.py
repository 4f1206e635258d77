"""Go: packages are folders; the go.mod file around a folder gives its import path."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from groundwire_index.repository_edges.confidences import EXACT
from groundwire_index.repository_edges.full_names import FullNames
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.folders import folder_of, folders_above
from groundwire_ingest.tree.languages.go.go_modules import GoModule
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.rules import ExportedName, NameRules, OutsideName, TreeLayout
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable


class GoNames(NameRules):
    """The files of a folder share their names. A method belongs to its receiver's type, in whichever file that is."""

    shares_packages = True

    has_overloads = False
    constructor = ""
    common_methods = everyday.GO

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        modules = ((folder_of(path), item.import_path) for path, item in layout.stated(GoModule).items())
        # The folders of modules with their import paths, the longest of these last.
        self._modules = sorted(modules, key=lambda item: (len(item[1]), item[0]))
        self._import_path_of_root = dict(self._modules)
        self._folders: dict[str, str | None] = {}
        self._packages: defaultdict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
        for number, definition in enumerate(table.definitions):
            package = self._packages[folder_of(table.path_of(number))]
            if definition.parent == 0 and not definition.owner:
                package[definition.name] = (*package.get(definition.name, ()), number)
        for number, definition in enumerate(table.definitions):
            owners = self._packages[folder_of(table.path_of(number))].get(definition.owner, ())
            if definition.owner and owners:
                table.add_member(owners[0], number)
                self.adopted.append((owners[0], number))

    def visible(self, scope: int, name: str) -> Found | None:
        """A name of the same package, of a package imported with a dot, or an imported package."""
        file = self.table.file_of(scope)
        resolved = self.member(folder_of(self.table.files[file].path), name)
        if resolved is not None:
            return resolved
        item = self.import_of(file, name)
        if item is not None:
            folder = self._folder_of(item.module)
            return None if folder is None else Found((folder,), EXACT)
        dotted = (self._folder_of(item.module) for item in self.wildcards_of(file))
        members = (self.member(folder, name) for folder in dotted if folder is not None)
        return next((member for member in members if member is not None), None)

    def member(self, container: Ref, name: str) -> Found | None:
        """The declarations of the package in a folder."""
        if isinstance(container, int):
            return None
        numbers = self._packages[container].get(name, ()) if container in self._packages else ()
        return Found(numbers, EXACT) if numbers else None

    def sees(self, file: int, number: int) -> bool:
        """True if a definition is in the same package or in one that is imported."""
        folder = folder_of(self.table.path_of(number))
        return folder == folder_of(self.table.files[file].path) or self.namespace_import(file, number) is not None

    def namespace_import(self, file: int, number: int) -> Import | None:
        """The import of the package that holds a definition."""
        folder = folder_of(self.table.path_of(number))
        return next((item for item in self.table.files[file].imports if self._folder_of(item.module) == folder), None)

    def exported(self) -> Iterator[ExportedName]:
        """What is written with a capital at the top of a package of a module."""
        for folder, package in self._packages.items():
            import_path = self._import_path_of(folder)
            for name, numbers in package.items() if import_path else ():
                for number in numbers if name[:1].isupper() else ():
                    module = self.table.module_of(self.table.file_of(number))
                    yield ExportedName(number, f"{import_path}.{name}", module)

    def outside(self, file: int, name: str) -> OutsideName | None:
        """A package with a path of a host; others are Go's own, or of one module alone."""
        item = self.import_of(file, name)
        if item is None or "." not in item.module.partition("/")[0]:
            return None
        folder = self._folder_of(item.module)
        answering = self._modules_in.get(folder, ()) if folder is not None else ()
        return OutsideName(FullNames.of(item.module), tuple(answering), is_module=True, import_lines=(item.line,))

    @cached_property
    def _modules_in(self) -> Mapping[str, Sequence[int]]:
        """The files of each folder."""
        modules: defaultdict[str, list[int]] = defaultdict(list)
        for path, number in self.number_at.items():
            modules[folder_of(path)].append(number)
        return modules

    def _import_path_of(self, folder: str) -> str:
        """The import path of the package in a folder; empty without a go.mod above it."""
        modules = self._import_path_of_root
        root = next((above for above in (folder, *folders_above(folder)) if above in modules), None)
        if root is None:
            return ""
        return "/".join(filter(None, (modules[root], folder.removeprefix(root).strip("/"))))

    def _folder_of(self, import_path: str) -> str | None:
        """The folder of a package: below the go.mod whose module path is the longest that the import path has."""
        if import_path not in self._folders:
            self._folders[import_path] = None
            for root, module in self._modules:
                rest = import_path.removeprefix(module)
                folder = "/".join(filter(None, (root, rest.strip("/"))))
                if rest != import_path and rest[:1] in ("", "/") and folder in self._packages:
                    self._folders[import_path] = folder
        return self._folders[import_path]
