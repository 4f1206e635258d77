"""C and C++: names by their namespaces, through what a file includes; bodies apart from declarations."""

from collections import defaultdict, deque
from collections.abc import Iterator
from posixpath import normpath

from groundwire_index.repository_edges.confidences import EXACT, GUESSED, WILDCARD
from groundwire_ingest.tree.code_facts import Definition, Import, Trait
from groundwire_ingest.tree.names import common_methods as everyday
from groundwire_ingest.tree.names.rules import NameRules, TreeLayout, with_outer
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable

MAX_INCLUDED = 2000
"""How many files are followed from one before the rest is given up."""
_OVERRIDABLE = frozenset[Trait]({"virtual", "override", "abstract"})


class CFamilyNames(NameRules):
    """A function may be called wherever a header that declares it is included, a `static` one in its own file only."""

    self_names = frozenset({"this"})
    implicit_members = True
    overrides_by_types = True
    common_methods = everyday.CPP

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        super().__init__(table, layout)
        self._included = [tuple(self.imported(file)) for file in range(len(table.files))]
        self._all_included: dict[int, frozenset[int]] = {}
        self._symbols: defaultdict[str, tuple[int, ...]] = defaultdict(tuple)
        self._namespace_of = self.namespaces()
        for number, definition in enumerate(table.definitions):
            parent = table.parent_of(number)
            if parent >= 0 and (definition.construct == "type" or table.parent_of(parent) < 0):
                self._symbols[definition.symbol] += (number,)
        self._namespaces = {outer for namespace in self._namespace_of for outer in with_outer(namespace)} - {""}
        self.adopted += self._adopt()
        self._bodies = dict(self._find_bodies())

    def visible(self, scope: int, name: str) -> Found | None:
        """A name of the namespaces around, one that `using` brings in, or a namespace."""
        file = self.table.file_of(scope)
        around = with_outer(self._namespace_of[scope])
        item = self.import_of(file, name)
        used = [f"{item.module}.{item.name}"] if item is not None else []
        used += [f"{wildcard.module}.{name}" for wildcard in self.wildcards_of(file)]
        for symbol in (*(f"{outer}.{name}" if outer else name for outer in around), *used):
            resolved = self._seen(file, self._symbols.get(symbol, ()))
            if resolved is not None:
                return resolved
            if symbol in self._namespaces:
                return Found((symbol,), EXACT)
        return None

    def member(self, container: Ref, name: str) -> Found | None:
        """The definitions of a namespace."""
        symbol = f"{container}.{name}"
        if isinstance(container, str) and self._symbols.get(symbol):
            return Found(self._symbols[symbol], WILDCARD)
        return Found((symbol,), EXACT) if symbol in self._namespaces else None

    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """The files that a file includes: from its own folder, or by the end of their paths."""
        for item in self.table.files[file].imports:
            beside = self.module_at(file, item.module)
            if not item.name and beside is not None:
                yield item, Found((beside,), EXACT)
            elif not item.name:
                nearest = self.table.nearest(file, tuple(self.modules_ending(normpath(item.module))))
                if len(nearest) == 1:
                    yield item, Found(nearest, WILDCARD)

    def sees(self, file: int, number: int) -> bool:
        """True if a file includes the one with a definition, or the one with the class that it is a member of."""
        owner = self.table.owner_of(number)
        seen = self._all_included_by(file)
        return self.table.file_of(number) in seen or (owner >= 0 and self.table.file_of(owner) in seen)

    def bodies(self, number: int) -> tuple[int, ...]:
        """The definitions of a declared function: those of the same owner, or of the tree, that take as many."""
        return self._bodies.get(number, ())

    def may_override(self, member: int, overridden: int, is_listed: bool) -> bool:
        """Only of a virtual member, or one that overrides such a member."""
        owner = self.table.owner_of(overridden)
        alike = self.table.members(owner, self.table.definitions[overridden].name) if owner >= 0 else (overridden,)
        stated = {trait for number in (member, *alike) for trait in self.table.definitions[number].traits}
        return not stated.isdisjoint(_OVERRIDABLE)

    def _seen(self, file: int, numbers: tuple[int, ...]) -> Found | None:
        """Of the definitions of one name those that a file may mean, less sure where it includes none of them."""
        in_file = tuple(number for number in numbers if self.table.file_of(number) == file)
        if in_file:
            return Found(in_file, EXACT)
        included = self._all_included_by(file)
        seen = tuple(number for number in numbers if self.table.file_of(number) in included)
        if seen:
            return Found(seen, WILDCARD)
        linked = tuple(number for number in numbers if "static" not in self.table.definitions[number].traits)
        return Found(linked, GUESSED) if linked else None

    def _all_included_by(self, file: int) -> frozenset[int]:
        """The files that a file includes, and those that they include in turn, itself among them."""
        if file not in self._all_included:
            seen, pending = {file}, deque([file])
            while pending and len(seen) < MAX_INCLUDED:
                for _, included in self._included[pending.popleft()]:
                    other = self.table.file_of(included.numbers[0])
                    if other not in seen:
                        seen.add(other)
                        pending.append(other)
            self._all_included[file] = frozenset(seen)
        return self._all_included[file]

    def _adopt(self) -> Iterator[tuple[int, int]]:
        for number, definition in enumerate(self.table.definitions):
            if not definition.owner or definition.construct != "callable":
                continue
            for outer in with_outer(self._namespace_of[number]):
                symbol = f"{outer}.{definition.owner}" if outer else definition.owner
                types = [candidate for candidate in self._symbols.get(symbol, ()) if self.table.is_type(candidate)]
                owners = self.table.nearest(self.table.file_of(number), tuple(types))
                if owners:
                    self.table.add_member(owners[0], number)
                    yield owners[0], number
                    break

    def _find_bodies(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        definitions = self.table.definitions
        for number, definition in enumerate(definitions):
            if "declared" not in definition.traits:
                continue
            owner = self.table.owner_of(number)
            is_member = owner >= 0 and self.table.is_type(owner)
            same = self.table.members(owner, definition.name) if is_member else self._symbols[definition.symbol]
            bodies = [
                candidate
                for candidate in same
                if definitions[candidate].construct == "callable" and self._may_be(number, candidate)
            ]
            alike = [candidate for candidate in bodies if _types(definitions[candidate]) == _types(definition)]
            if alike or bodies:
                yield number, tuple(alike or bodies)

    def _may_be(self, declared: int, body: int) -> bool:
        """True if a definition with a body is that of a declaration: as many parameters, and reachable."""
        declaration, other = self.table.definitions[declared], self.table.definitions[body]
        if "declared" in other.traits or "abstract" in other.traits or body == declared:
            return False
        is_static = "static" in other.traits and "static" not in declaration.traits
        in_file = self.table.file_of(declared) == self.table.file_of(body)
        return (in_file or not is_static) and len(declaration.parameters or ()) == len(other.parameters or ())


def _types(definition: Definition) -> tuple[str, ...]:
    return tuple(parameter.type_name for parameter in definition.parameters or ())
