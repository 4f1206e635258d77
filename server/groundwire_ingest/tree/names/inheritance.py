"""Which members implement or override which, and where a call through an interface may go."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice

from groundwire_index.repository_edges.confidences import EXACT, GUESSED, WILDCARD
from groundwire_ingest.tree.code_facts import Call, Definition, StatedImplementation
from groundwire_ingest.tree.languages.types import arguments, head
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import DISPATCHED

MAX_IMPLEMENTATIONS = 8
"""A call to a member that more others override than this leads to that member alone."""

MAX_SATISFYING = 64
"""An interface whose methods more types have than this is taken to be satisfied by none of them in particular."""
MAX_CANDIDATES = 512
"""So is one with no method whose name fewer types than this know."""


class Inheritance:
    """Overriding members by the members that they override, over all types of one language family."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._overridden: dict[int, dict[int, float]] = {}
        self._overriding: defaultdict[int, dict[int, float]] = defaultdict(dict)
        self._implementing: defaultdict[int, dict[int, float]] = defaultdict(dict)
        self._satisfied: defaultdict[int, dict[int, float]] = defaultdict(dict)
        types = [number for number, item in enumerate(self._table.definitions) if item.construct == "type"]
        for number in types:
            self._add_bases_of(number)
        self._add_structural(types)
        for file, facts in enumerate(self._table.files):
            for item in facts.stated_implementations:
                self._add_stated(self._table.module_of(file) + item.scope, item)

    def overridden(self, number: int) -> Mapping[int, float]:
        """The members that a member overrides or implements, with the confidence of each."""
        return self._overridden.get(number, {})

    def overriding(self, number: int) -> Mapping[int, float]:
        """The members that override or implement a member, with the confidence of each."""
        return self._overriding.get(number, {})

    def implementing(self, number: int) -> Mapping[int, float]:
        """The types that derive from or satisfy a type, with the confidence of each."""
        return self._implementing.get(number, {})

    def satisfied(self, number: int) -> Mapping[int, float]:
        """The interfaces that a type satisfies without deriving from them, with the confidence of each."""
        return self._satisfied.get(number, {})

    def is_abstract(self, number: int) -> bool:
        """True if a type or member is there to be implemented."""
        definitions = self._table.definitions
        if definitions[number].is_abstract:
            return True
        members = self._table.members_of(number) if definitions[number].construct == "type" else ()
        return any("abstract" in definitions[member].traits for member in members)

    def dispatched(
        self, scope: int, call: Call, number: int, bound: Mapping[int, set[int]]
    ) -> Iterator[tuple[int, float]]:
        """The members that a call to a member in definition `scope` may end up at, itself aside.

        They belong to types of what the call is made on, so a call to the base's own member leads to none. Members of
        types that are registered for the interface (`bound`) come first; those in tests count only for tests.
        Overriding members of a member that has a body of its own are never sure, nor is anything in a file that makes
        doubles of what it tests.
        """
        overriding, file = self._overriding.get(number, {}), self._table.file_of(scope)
        if not overriding or call.receiver in self._lookup.rules.super_names:
            return
        is_test = self._table.files[file].is_test
        narrower = self._narrower(scope, call, number)
        candidates = [
            other
            for other in overriding
            if (is_test or not self._table.is_test(other))
            and (narrower is None or not narrower.isdisjoint(self._table.parts(self._table.owner_of(other))))
        ]
        owner = self._table.owner_of(number)
        registered = [other for other in candidates if self._table.owner_of(other) in bound.get(owner, ())]
        likely = registered or candidates
        if not 0 < len(candidates) <= MAX_IMPLEMENTATIONS:
            return
        sole = WILDCARD if registered else DISPATCHED
        imports, frameworks = self._table.files[file].imports, self._lookup.frameworks
        has_doubles = any(frameworks.makes_doubles(item.module) for item in imports)
        for other in candidates:
            is_sure = len(likely) == 1 and other in likely and self.is_abstract(number) and not has_doubles
            yield other, min(overriding[other], sole if is_sure else GUESSED)

    def _narrower(self, scope: int, call: Call, number: int) -> set[int] | None:
        """The types below what a call is made on; None where that may be anything with the member that is called."""
        value = self._lookup.value(scope, call.receiver) if call.receiver else None
        around = self._table.enclosing_type(scope)
        types = value.resolved.numbers if value else () if call.receiver or around is None else (around,)
        owners = self._table.parts(self._table.owner_of(number))
        if not types or any(
            type_number in owners or self._lookup.lineages((type_number,)).isdisjoint(owners) for type_number in types
        ):
            return None
        return {below for type_number in types for below in self._implementing.get(type_number, ())}

    def _add_bases_of(self, number: int) -> None:
        """Notes what a type's members override in the types that it derives from."""
        table = self._table
        if table.parts(number)[0] != number:
            return
        members = [member for part in table.parts(number) for member in table.members_of(part)]
        listed = self._listed(number)
        for base, confidence in self._lookup.lineage(number):
            if base == number:
                continue
            for part in self._stating(number, base):
                self._implementing[base][part] = confidence
            for member in members:
                self._add_member(member, base, confidence, base in listed)

    def _listed(self, number: int) -> frozenset[int]:
        """The bases that a type names itself, and of interfaces those that they derive from."""
        listed: set[int] = set()
        pending = [number]
        while pending:
            for bases in self._lookup.bases(pending.pop()):
                fresh = [base for base in bases.numbers if base not in listed]
                listed.update(fresh)
                pending += [base for base in fresh if "interface" in self._table.definitions[base].traits]
        return frozenset(listed)

    def _stating(self, number: int, base: int) -> tuple[int, ...]:
        """The parts of a type that name a base themselves, or the first where none does."""
        parts = self._table.parts(number)
        if len(parts) == 1:
            return parts
        definitions = self._table.definitions
        named = ((part, self._lookup.type_named(part, name)) for part in parts for name in definitions[part].bases)
        stating = dict.fromkeys(part for part, stated in named if stated and base in stated.numbers)
        return tuple(stating) or parts[:1]

    def _add_member(self, member: int, base: int, confidence: float, is_listed: bool) -> None:
        rules, definitions = self._lookup.rules, self._table.definitions
        definition, owner = definitions[member], self._table.owner_of(member)
        if definition.construct == "type" or "static" in definition.traits or rules.bodies(member):
            return
        if definition.name == rules.constructor_name(owner):
            return
        same = [other for other in self._table.members(base, definition.name) if not rules.bodies(other)]
        fitting = [other for other in same if _same_parameters(definition, definitions[other])]
        if rules.overrides_by_types:
            alike = [other for other in fitting if self._takes_the_same(member, other)]
            # What says that it overrides does so even where a type is written in another way.
            fitting = alike or (fitting if "override" in definition.traits else [])
        elif not fitting and len(same) == 1:
            overloads = self._table.members(owner, definition.name)
            is_taken = any(_same_parameters(definitions[overload], definitions[same[0]]) for overload in overloads)
            fitting = [] if is_taken else same
        for other in fitting:
            if rules.may_override(member, other, is_listed):
                self._note(member, other, confidence)

    def _note(self, member: int, base_member: int, confidence: float) -> None:
        if member == base_member:
            return
        confidence_of_base = self._overridden.setdefault(member, {})
        confidence_of_base[base_member] = max(confidence, confidence_of_base.get(base_member, 0.0))
        self._overriding[base_member][member] = confidence_of_base[base_member]

    def _add_structural(self, types: list[int]) -> None:
        """Notes which types have all methods of an interface that is satisfied without being named."""
        table = self._table
        if not any("structural" in table.definitions[number].traits for number in types):
            return
        methods = {number: self._methods(number) for number in types}
        by_name: defaultdict[str, list[int]] = defaultdict(list)
        for number, method_of_name in methods.items():
            if "structural" not in table.definitions[number].traits:
                for name in method_of_name:
                    by_name[name].append(number)
        for number in types:
            wanted = methods[number]
            if "structural" not in table.definitions[number].traits or not wanted:
                continue
            rarest = min(wanted, key=lambda name: (len(by_name.get(name, ())), name))
            candidates = by_name.get(rarest, []) if len(by_name.get(rarest, ())) <= MAX_CANDIDATES else []
            fitting = (
                other
                for other in candidates
                if wanted.keys() <= methods[other].keys()
                and all(self._same_shape(methods[other][name], member) for name, member in wanted.items())
            )
            satisfying = list(islice(fitting, MAX_SATISFYING + 1))
            for other in satisfying if len(satisfying) <= MAX_SATISFYING else ():
                # One method of a name that many types have says less than several do.
                confidence = WILDCARD if len(wanted) > 1 or len(satisfying) == 1 else GUESSED
                if other not in self._implementing[number]:
                    self._satisfied[other][number] = confidence
                self._implementing[number].setdefault(other, confidence)
                self._note_methods(methods[other], wanted, confidence)

    def _note_methods(self, methods: Mapping[str, int], wanted: Mapping[str, int], confidence: float) -> None:
        """Notes that the methods of a type implement those of an interface by name."""
        for name, member in wanted.items():
            if methods.get(name, member) != member:
                self._note(methods[name], member, confidence)

    def _add_stated(self, scope: int, item: StatedImplementation) -> None:
        """Notes that a type satisfies an interface because the code says so."""
        interface = self._only_type(scope, item.interface)
        implementation = self._only_type(scope, item.implementation)
        if interface is None or implementation is None:
            return
        self._implementing[interface][implementation] = EXACT
        self._satisfied[implementation][interface] = EXACT
        self._note_methods(self._methods(implementation), self._methods(interface), WILDCARD)

    def _only_type(self, scope: int, written: str) -> int | None:
        """The type that a name means, if it is exactly one."""
        named = self._lookup.type_named(scope, written)
        return named.numbers[0] if named is not None and len(named.numbers) == 1 else None

    def _methods(self, number: int) -> dict[str, int]:
        """The methods of a type by name, those of what it embeds included."""
        method_of_name: dict[str, int] = {}
        for owner, _ in self._lookup.lineage(number):
            for part in self._table.parts(owner):
                for member in self._table.members_of(part):
                    if self._table.definitions[member].construct == "callable":
                        method_of_name.setdefault(self._table.definitions[member].name, member)
        return method_of_name

    def _same_shape(self, number: int, wanted: int) -> bool:
        """True if a member takes and returns the same as another, as far as that is known."""
        left, right = self._table.definitions[number], self._table.definitions[wanted]
        returns_the_same = self._same_type(number, left.result, wanted, right.result)
        return _same_parameters(left, right) and returns_the_same and self._takes_the_same(number, wanted)

    def _takes_the_same(self, number: int, wanted: int) -> bool:
        """True if the parameters of a member have the types that those of another one have, as far as known."""
        left, right = self._table.definitions[number], self._table.definitions[wanted]
        pairs = zip(left.parameters or (), right.parameters or (), strict=False)
        return all(self._same_type(number, parameter.type_name, wanted, other.type_name) for parameter, other in pairs)

    def _same_type(self, number: int, written: str, wanted: int, stated: str) -> bool:
        """True if two types are the same where each is written; any is the same as a parameter or one not stated."""
        if not written or not stated:
            return True
        owner = self._table.owner_of(wanted)
        around = self._table.definitions[owner].type_parameters if owner >= 0 else ()
        if head(stated) in (*around, *self._table.definitions[wanted].type_parameters):
            return True
        left, right = self._lookup.type_named(number, written), self._lookup.type_named(wanted, stated)
        if left is not None and right is not None:
            same = not set(left.numbers).isdisjoint(right.numbers)
        else:
            same = left is None and right is None and _plain(written) == _plain(stated)
        inner = zip(arguments(written), arguments(stated), strict=False)
        return same and all(self._same_type(number, argument, wanted, other) for argument, other in inner)


_PLAIN_NAMES = {"Int16": "short", "Int32": "int", "Int64": "long", "Single": "float", "Boolean": "bool"}
_KEYWORDS = frozenset({"String", "Object", "Double", "Decimal", "Byte", "Char"})


def _plain(type_name: str) -> str:
    """A type of a library without its namespace and arguments; of a C# type that has a keyword the keyword."""
    name = head(type_name).rpartition(".")[2]
    return _PLAIN_NAMES.get(name, name.lower() if name in _KEYWORDS else name)


def _same_parameters(left: Definition, right: Definition) -> bool:
    """True if two members take the same number of parameters, as far as that is known."""
    return left.parameters is None or right.parameters is None or len(left.parameters) == len(right.parameters)
