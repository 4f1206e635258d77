"""The full names by which a tree's code refers to other trees, and by which other trees may refer to its own code."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from groundwire_index.repository_edges.confidences import EXACT, INFERRED, WILDCARD
from groundwire_index.repository_edges.full_names import CALLED, IMPORTS, OVERRIDES, FullNames, NameUse, OfferedName
from groundwire_ingest.tree.code_facts import Binding
from groundwire_ingest.tree.languages.types import head, value_type
from groundwire_ingest.tree.names.inheritance import Inheritance
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import ExportedName, NameRules, OutsideName

MODULES = ":modules"
"""What the names of a family's modules have after that of the family: a module and what is in it are not confused."""
_MAX_VARIABLES = 5
"""How many variables that are set to each other are followed."""


@dataclass(frozen=True, slots=True)
class _OutsidePath:
    """A path that begins outside of the tree: the names that it may have, and how sure it is that it has one.

    `file` is the one whose imports decide that: another one if a field that the path goes through is declared there.
    """

    file: int
    outside: OutsideName
    names: FullNames
    confidence: float


class OutsideNames:
    """What the files of one language family say of other trees, and offer to them."""

    def __init__(self, rules: NameRules, lookup: Lookup, inheritance: Inheritance) -> None:
        self._rules = rules
        self._lookup = lookup
        self._inheritance = inheritance
        self._table = rules.table
        self._family = type(rules).__name__
        self._exported = list(rules.exported())
        self._name_of: dict[int, str] = {}
        for item in self._exported:
            self._name_of.setdefault(item.number, item.name)

    def offered(self) -> Iterator[OfferedName]:
        """The names of modules, then those of types and functions, with the members of types; no name of a test."""
        for module in self._rules.module_names():
            if not self._table.is_test(module.number):
                key = self._key(module.number)
                yield OfferedName(self._family + MODULES, module.name, key, key, module.confidence)
        for item in self._exported:
            if not self._table.is_test(item.number):
                yield from self._offered(item)

    def uses(self, file: int) -> Iterator[NameUse]:
        """The uses of names of other trees in a file."""
        yield from self._imports(file)
        first = self._table.module_of(file)
        best: dict[tuple[str, str, FullNames], NameUse] = {}
        for use in (*self._calls(first, file), *self._references(first, file), *self._bases(first, file)):
            place = (use.key, use.edge_type, use.names)
            known = best.get(place)
            if known is None or (-use.confidence, use.line) < (-known.confidence, known.line):
                best[place] = use
        yield from best.values()

    def _offered(self, item: ExportedName) -> Iterator[OfferedName]:
        number, definition = item.number, self._table.definitions[item.number]
        file_key = self._key(item.module)
        offered = OfferedName(
            self._family,
            item.name,
            definition.key,
            file_key,
            item.confidence,
            definition.line,
            is_abstract=self._inheritance.is_abstract(number),
        )
        if definition.construct == "callable":
            yield self._with_result(offered, number)
            return
        yield offered
        if definition.construct != "type":
            return
        constructor = self._rules.constructor_name(number)
        for part in self._table.parts(number):
            for name in self._table.member_names(part):
                for member in self._table.members(number, name):
                    made = self._table.definitions[member]
                    if made.construct != "callable" or "private" in made.traits:
                        continue
                    of_member = replace(
                        offered,
                        name=f"{item.name}.{name}",
                        key=made.key,
                        line=made.line,
                        is_abstract=self._inheritance.is_abstract(member),
                    )
                    if name == constructor:
                        made_key = definition.key
                        of_member = replace(of_member, name=item.name + CALLED, is_abstract=False, made_key=made_key)
                    yield of_member

    def _with_result(self, offered: OfferedName, number: int) -> OfferedName:
        """The offered function with the type that it returns, if that is one type that is offered as well."""
        module = self._table.module_of(self._table.file_of(number))
        value = self._lookup.value(module, self._table.definitions[number].name + CALLED)
        numbers = value.resolved.numbers if value is not None and not value.is_itself else ()
        name = self._name_of.get(numbers[0], "") if len(numbers) == 1 else ""
        if value is None or not name:
            return offered
        return replace(offered, result=name, result_confidence=value.resolved.confidence)

    def _imports(self, file: int) -> Iterator[NameUse]:
        key = self._key(self._table.module_of(file))
        seen: set[FullNames] = set()
        for item in self._table.files[file].imports:
            outside = self._rules.outside_module(file, item)
            if outside is not None and self._is_outside(file, outside) and outside.names not in seen:
                seen.add(outside.names)
                space = self._family + (MODULES if self._rules.imports_modules else "")
                yield NameUse(
                    space,
                    outside.names,
                    key,
                    IMPORTS,
                    item.line,
                    EXACT,
                    answered_by=self._keys_of_files(outside.answered_by),
                )

    def _calls(self, first: int, file: int) -> Iterator[NameUse]:
        for call in self._table.files[file].calls:
            path = f"{call.receiver}.{call.name}" if call.receiver else call.name
            named = self._expanded(first + call.scope, path)
            if named is not None:
                called = replace(named, names=named.names.followed_by(CALLED))
                yield self._use(file, called, call.from_key, "Calls", call.line)

    def _references(self, first: int, file: int) -> Iterator[NameUse]:
        for reference in self._table.files[file].references:
            if reference.role == "string":
                continue
            named = self._expanded(first + reference.scope, head(reference.name))
            if named is not None:
                edge_type = "DecoratedBy" if reference.role == "decorator" else "References"
                yield self._use(file, named, reference.from_key, edge_type, reference.line)

    def _bases(self, first: int, file: int) -> Iterator[NameUse]:
        for number, definition in enumerate(self._table.files[file].definitions, first):
            for base in definition.bases:
                named = self._expanded(number, head(base))
                if named is None:
                    continue
                yield self._use(file, named, definition.key, "Inherits", definition.line)
                for name in self._table.member_names(number):
                    overridden = replace(
                        named, names=named.names.followed_by(f".{name}"), confidence=min(named.confidence, WILDCARD)
                    )
                    for member in self._table.members(number, name):
                        made = self._table.definitions[member]
                        if made.construct == "callable" and "private" not in made.traits:
                            yield self._use(file, overridden, made.key, OVERRIDES, made.line)

    def _use(self, file: int, named: _OutsidePath, key: str, edge_type: str, line: int) -> NameUse:
        lines = named.outside.import_lines if named.file == file else ()
        return NameUse(
            self._family,
            named.names,
            key,
            edge_type,
            line,
            named.confidence,
            self._key(self._table.module_of(file)) if lines else "",
            lines,
            self._keys_of_files(named.outside.answered_by),
        )

    def _expanded(self, scope: int, path: str) -> _OutsidePath | None:
        """The full names of a path whose first name is from another tree; None for any other path."""
        confidence = EXACT
        for _ in range(_MAX_VARIABLES):
            segments = path.split(".")
            if "?" in path or "[" in path or not segments[0]:
                return None
            variable, rest = self._variable(scope, segments)
            if variable is None:
                return self._named(scope, path, confidence)
            where, binding = variable
            if binding.is_item or not (binding.type_name or binding.value):
                return None
            confidence = min(confidence, WILDCARD if binding.type_name and binding.stated else INFERRED)
            # An instance of a type is what a call of the type returns.
            start = head(value_type(binding.type_name)) + CALLED if binding.type_name else binding.value
            first = self._table.module_of(self._table.file_of(where))
            scope = first + binding.written_in if not binding.type_name and binding.written_in >= 0 else where
            if not rest:
                return None
            path = ".".join((start, *rest))
        return None

    def _variable(self, scope: int, segments: Sequence[str]) -> tuple[tuple[int, Binding] | None, Sequence[str]]:
        """The variable or field that a path begins with, and what is behind it."""
        first, *rest = segments
        if first in self._rules.self_names:
            around = self._table.enclosing_type(scope)
            field = self._lookup.field(around, rest[0]) if around is not None and rest else None
            return field, rest[1:]
        variable = self._lookup.variable(scope, first)
        if variable is None or not rest:
            return variable, rest
        value = self._lookup.value(scope, first)
        types = value.resolved.numbers if value is not None and not value.is_itself else ()
        fields = (self._lookup.field(number, rest[0]) for number in types)
        field = next(filter(None, fields), None)
        return (variable, rest) if field is None else (field, rest[1:])

    def _named(self, scope: int, path: str, confidence: float) -> _OutsidePath | None:
        first, dot, rest = path.partition(".")
        plain = head(first.removesuffix(CALLED))
        file = self._table.file_of(scope)
        outside = self._rules.outside(file, plain)
        if outside is None or self._table.local(scope, plain) is not None:
            return None
        if self._rules.implicit_members:
            # A name of the tree itself comes first, be it in scope without an import.
            inside = self._lookup.unqualified(scope, plain) or self._lookup.dotted(scope, (plain,))
            if inside is not None and not inside.numbers:
                return None
            outside = replace(outside, answered_by=inside.numbers if inside is not None else ())
        if not self._is_outside(file, outside):
            return None
        called = CALLED if first.endswith(CALLED) else ""
        if outside.is_module:
            if not rest or called:
                return None
            names = outside.names.followed_by(f"{self._rules.inside_module}{rest}")
        else:
            names = outside.names.followed_by(f"{called}{dot}{rest}")
        return _OutsidePath(file, outside, names, min(confidence, outside.confidence))

    def _is_outside(self, file: int, outside: OutsideName) -> bool:
        """True if nothing in the tree has the name, or only what some who see the file do not see."""
        if not outside.answered_by:
            return True
        keys = self._keys_of_files(outside.answered_by)
        demand_of = self._rules.layout.demand_of_node
        demand = demand_of(self._key(self._table.module_of(file)))
        return bool(keys) and all(demand_of(key) != demand for key in keys)

    def _keys_of_files(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """The nodes of the files that hold definitions; all nodes of a file have the same access rules."""
        keys = (self._key(self._table.module_of(self._table.file_of(number))) for number in numbers)
        return tuple(dict.fromkeys(filter(None, keys)))

    def _key(self, number: int) -> str:
        return self._table.definitions[number].key
