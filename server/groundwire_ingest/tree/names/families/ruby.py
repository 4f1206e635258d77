"""Ruby: constants through the modules around a place, in whichever file these are opened."""

from collections import defaultdict
from collections.abc import Iterator

from groundwire_index.repository_edges.confidences import EXACT, GUESSED, WILDCARD
from groundwire_ingest.tree.code_facts import Import
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.rules import NameRules, TreeLayout, with_outer
from groundwire_ingest.tree.names.table import Found, SymbolTable


class RubyNames(NameRules):
    """All declarations of a module or class are one. Any file may be loaded, as frameworks load them by name."""

    invoking = frozenset({"call"})
    self_names = frozenset({"self"})
    super_names = frozenset({"super"})
    implicit_members = True
    has_overloads = False
    maker = "new"
    constructor = "initialize"
    common_methods = everyday.RUBY

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        self._types: defaultdict[str, tuple[int, ...]] = defaultdict(tuple)
        self._functions: defaultdict[str, tuple[int, ...]] = defaultdict(tuple)
        for number, definition in enumerate(table.definitions):
            if definition.construct == "type":
                self._types[definition.symbol] += (number,)
            elif definition.construct == "callable" and table.parent_of(table.parent_of(number)) < 0:
                self._functions[definition.name] += (number,)
        for symbol, declared in self._types.items():
            if len(declared) > 1:
                numbers = tuple(sorted(declared, key=self._rank))
                self._types[symbol] = numbers
                table.join(numbers)
                self.parts += [(numbers[0], other) for other in numbers[1:]]
        self.adopted += self._adopt()

    def visible(self, scope: int, name: str) -> Found | None:
        """A constant of the modules around or at the top, or a method at the top of the file or of the only one."""
        file = self.table.file_of(scope)
        around = self.table.enclosing_type(scope)
        for outer in with_outer("" if around is None else self.table.definitions[around].symbol):
            full_name = f"{outer}.{name}" if outer else name
            if full_name in self._types:
                return self._type(file, full_name)
        functions = self._functions.get(name, ())
        in_file = tuple(number for number in functions if self.table.file_of(number) == file)
        if in_file:
            return Found(in_file, EXACT)
        module = self.table.module_of(self.table.file_of(functions[0])) if len(functions) == 1 else -1
        is_required = module >= 0 and any(module in required.refs for _, required in self.imported(file))
        return Found(functions, WILDCARD) if is_required else None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """Files by the path from the file's own folder, or from the only folder of the tree where there is such."""
        for item in self.table.files[file].imports:
            path = item.module if item.module.endswith(".rb") else f"{item.module}.rb"
            is_relative = path.startswith("./")
            beside = self.module_at(file, path) if is_relative else None
            modules = (beside,) if beside is not None else () if is_relative else tuple(self.modules_ending(path))
            if len(modules) == 1:
                yield item, Found(modules, EXACT if is_relative else WILDCARD)

    def sees(self, file: int, number: int) -> bool:
        """All of the tree."""
        return True

    def _adopt(self) -> Iterator[tuple[int, int]]:
        for symbol, numbers in sorted(self._types.items()):
            owners = self._types.get(symbol.rpartition(".")[0], ())
            for number in numbers if owners else ():
                if self.table.parent_of(number) not in owners:
                    self.table.add_member(owners[0], number)
                    yield owners[0], number

    def _rank(self, number: int) -> tuple[bool, bool, int]:
        """The declaration used for a type: one outside of tests that states a base, else the first."""
        facts = self.table.files[self.table.file_of(number)]
        return facts.is_test, not self.table.definitions[number].bases, number

    def _type(self, file: int, symbol: str) -> Found:
        numbers = self._types[symbol]
        if any(self.table.file_of(number) == file for number in numbers):
            return Found(numbers[:1], EXACT)
        return Found(numbers[:1], WILDCARD if self._is_own(symbol) else GUESSED)

    def _is_own(self, symbol: str) -> bool:
        """True if a type is of the tree, rather than one from elsewhere that the tree opens to add to it.

        The tree gives it a base, or has a folder or file that is named after it or the module that it is in.
        """
        root = symbol.partition(".")[0].lower()
        for number in (*self._types[symbol], *self._types.get(symbol.partition(".")[0], ())):
            parts = self.table.path_of(number).removesuffix(".rb").replace("_", "").replace("-", "").split("/")
            if self.table.definitions[number].bases or root in parts:
                return True
        return False
