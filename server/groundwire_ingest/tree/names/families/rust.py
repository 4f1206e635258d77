"""Rust: modules by the files of a crate, the types, traits and functions in them, and what `use` brings in."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from groundwire_index.repository_edges.confidences import EXACT, WILDCARD
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.folders import folder_of, folders_above
from groundwire_ingest.tree.languages.rust.crates import Crate
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.rules import MAX_IMPORT_STEPS, NameRules, TreeLayout
from groundwire_ingest.tree.names.table import NOTHING, Found, Ref, SymbolTable

_ROOTS = frozenset({"lib", "main"})
_ROOT_FOLDER = "."
"""Names the root module of a crate in the tree's own folder, which is empty, since no module has an empty name."""


class RustNames(NameRules):
    """A module is known by the folder of its crate and its path, such as `crates/core::search::glue`.

    The crate of a file is the folder above `src`, or the one with a Cargo.toml around it. Every module sees what the
    ones around it in the same file declare and import, which Rust would have imported by name.
    """

    self_names = frozenset({"self", "Self"})
    has_overloads = False
    constructor = ""
    common_methods = everyday.RUST

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        crates = {folder_of(path): item.name for path, item in layout.stated(Crate).items()}
        self._crate_folders = frozenset(crates)
        self._folders = {name: folder or _ROOT_FOLDER for folder, name in sorted(crates.items(), reverse=True)}
        self._module_of_file = [self._module_at(facts.path) for facts in table.files]
        self._file_of_module: dict[str, int] = {}
        for file, module in enumerate(self._module_of_file):
            self._file_of_module.setdefault(module, file)
        self._members: defaultdict[str, dict[str, tuple[int, ...]]] = defaultdict(dict)
        self._modules: set[str] = set(self._module_of_file)
        self._inner = self.namespaces()
        for number, definition in enumerate(table.definitions):
            parent = table.parent_of(number)
            if parent >= 0 and table.parent_of(parent) < 0 and "partial" not in definition.traits:
                self._declare(self._module_around(number), definition.name, number)
        self.parts += self._join()

    def visible(self, scope: int, name: str) -> Found | None:
        """A name of the module around or of those around it in the file, what they import, a crate, or a module."""
        if name == "Self":
            around = self.table.enclosing_type(scope)
            return None if around is None else Found(self.table.parts(around)[:1], EXACT)
        return self._path(self._module_around(scope), (name,), MAX_IMPORT_STEPS)

    def member(self, container: Ref, name: str) -> Found | None:
        """The definition that a module declares, contains or imports under a name."""
        return self._attribute(container, name, MAX_IMPORT_STEPS) if isinstance(container, str) else None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Every import that leads to a module of the tree or to something in one."""
        for item in self.table.files[file].imports:
            segments = [*filter(None, item.module.split(".")), *([] if item.name == "*" else [item.name])]
            resolved = self._path(self._module_of_file[file], segments, MAX_IMPORT_STEPS) or NOTHING
            files = [self._file_of_module.get(ref) for ref in resolved.refs if isinstance(ref, str)]
            numbers = (
                *resolved.numbers,
                *(self.table.module_of(other_file) for other_file in files if other_file is not None),
            )
            if numbers:
                yield item, Found(numbers, resolved.confidence)

    def sees(self, file: int, number: int) -> bool:
        """True if a definition is in the same crate: what a method belongs to need not be imported."""
        return self._crate_of(self.table.files[file].path) == self._crate_of(self.table.path_of(number))

    def is_type_name(self, name: str) -> bool:
        """By its capital letter."""
        return name[:1].isupper()

    def _declare(self, module: str, name: str, number: int) -> None:
        self._members[module][name] = (*self._members[module].get(name, ()), number)
        while "::" in module and module not in self._modules:
            self._modules.add(module)
            module = module.rpartition("::")[0]

    def _join(self) -> Iterator[tuple[int, int]]:
        """Makes types and their `impl` blocks one, and yields the pairs."""
        blocks: defaultdict[int, list[int]] = defaultdict(list)
        for number, definition in enumerate(self.table.definitions):
            if "partial" in definition.traits:
                resolved = self._path(self._module_around(number), (definition.name,), MAX_IMPORT_STEPS)
                numbers = self.table.nearest(self.table.file_of(number), resolved.numbers) if resolved else ()
                if len(numbers) == 1 and self.table.definitions[numbers[0]].construct == "type":
                    blocks[numbers[0]].append(number)
        for owner, others in blocks.items():
            self.table.join((owner, *others))
            yield from ((owner, other) for other in others)

    def _path(self, module: str, segments: Sequence[str], steps: int) -> Found | None:
        """The target of a path in a module."""
        first, *others = segments or ("self",)
        resolved = self._first(module, first, steps)
        for segment in others:
            refs = [self._step(ref, segment, steps) for ref in resolved.refs] if resolved else []
            known = [ref for ref in refs if ref is not None]
            numbers = tuple(ref for item in known for ref in item.refs)
            resolved = Found(numbers, min(item.confidence for item in known)) if known else None
        return resolved

    def _step(self, ref: Ref, name: str, steps: int) -> Found | None:
        if isinstance(ref, str):
            return self._super(ref) if name == "super" else self._attribute(ref, name, steps)
        members = self.table.members(ref, name)
        return Found(members, EXACT) if members else None

    def _first(self, module: str, name: str, steps: int) -> Found | None:
        match name:
            case "crate":
                return Found((module.partition("::")[0],), EXACT)
            case "self":
                return Found((module,), EXACT)
            case "super":
                return self._super(module)
        around, resolved = module, None
        while around and resolved is None:
            resolved = self._attribute(around, name, steps)
            around = "" if around in self._file_of_module else around.rpartition("::")[0]
        if resolved is None and name in self._folders:
            return Found((self._folders[name],), EXACT)
        return resolved

    @staticmethod
    def _super(module: str) -> Found | None:
        around, separator, _ = module.rpartition("::")
        return Found((around,), EXACT) if separator else None

    def _attribute(self, module: str, name: str, steps: int) -> Found | None:
        return self.once((module, name), lambda: self._find(module, name, steps) if steps else None)

    def _find(self, module: str, name: str, steps: int) -> Found | None:
        """The declarations of a module, a module in it, or its imports by name or of everything."""
        numbers = self._members[module].get(name, ()) if module in self._members else ()
        if numbers:
            return Found(numbers, EXACT)
        inner = f"{module}::{name}"
        if inner in self._modules:
            return Found((inner,), EXACT)
        file = self._file_of_module.get(module)
        if file is None:
            return None
        item = self.import_of(file, name)
        if item is not None:
            segments = [*filter(None, item.module.split(".")), item.name]
            return None if segments == [name] else self._path(module, segments, steps - 1)
        for wildcard in self.wildcards_of(file):
            source = self._path(module, wildcard.module.split("."), steps - 1)
            for ref in source.refs if source else ():
                resolved = self._step(ref, name, steps - 1) if ref != module else None
                if resolved is not None:
                    return resolved.at_most(WILDCARD)
        return None

    def _module_around(self, number: int) -> str:
        inner = self._inner[number]
        module = self._module_of_file[self.table.file_of(number)]
        return f"{module}::{inner.replace('.', '::')}" if inner else module

    def _crate_of(self, path: str) -> str:
        """The folder of the crate that a file belongs to."""
        folders = path.split("/")[:-1]
        stated = (folder for folder in folders_above(path) if folder in self._crate_folders)
        return next(stated, "/".join(folders[: folders.index("src")]) if "src" in folders else "")

    def _module_at(self, path: str) -> str:
        crate = self._crate_of(path)
        inside = path.removeprefix(crate).strip("/").removesuffix(".rs").split("/")
        if inside[0] == "src":
            inside = inside[1:]
        if inside[-1] == "mod" or (len(inside) == 1 and inside[0] in _ROOTS):
            inside = inside[:-1]
        return "::".join((crate or _ROOT_FOLDER, *inside))
