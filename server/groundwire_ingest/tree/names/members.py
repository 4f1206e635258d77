"""The types and members that names mean: lineages of types, their members, extension methods, variables."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from groundwire_index.repository_edges.confidences import EXACT, INFERRED, WILDCARD
from groundwire_ingest.tree.code_facts import RETURNED, Binding
from groundwire_ingest.tree.languages.types import head
from groundwire_ingest.tree.names.conventions import FrameworkNames
from groundwire_ingest.tree.names.rules import NameRules
from groundwire_ingest.tree.names.table import Found

_MAX_LINEAGE = 40
"""How many types are looked at of those that one derives from."""
_MAX_ALIKE = 256
"""Of more definitions of one name than this the nearest are meant, or none where these are still as many."""


class MemberLookup:
    """Answers for one table. A scope is the number of the definition around a name."""

    def __init__(self, rules: NameRules, frameworks: FrameworkNames) -> None:
        self.rules = rules
        self.frameworks = frameworks
        self.table = rules.table
        self._types: dict[tuple[int, str], Found | None] = {}
        self._bases: dict[int, tuple[Found, ...]] = {}

    def type_named(self, scope: int, type_name: str) -> Found | None:
        """The type that a name means, without type arguments; also a JavaScript function that has members."""
        dotted = head(type_name)
        key = (scope, dotted)
        if key not in self._types:
            resolved = self.dotted(scope, dotted.split("."))
            numbers = tuple(filter(self.table.is_type, resolved.numbers)) if resolved else ()
            numbers = self.table.nearest(self.table.file_of(scope), numbers)
            self._types[key] = Found(numbers, resolved.confidence) if resolved and numbers else None
        return self._types[key]

    def bases(self, number: int) -> tuple[Found, ...]:
        """The base types of a type that are in the tree, in the order in which they are written."""
        number = self.table.parts(number)[0]
        if number not in self._bases:
            parts, definitions = self.table.parts(number), self.table.definitions
            named = [self.type_named(part, name) for part in parts for name in definitions[part].bases]
            self._bases[number] = tuple(base for base in named if base and number not in base.refs)
        return self._bases[number]

    def lineage(self, number: int) -> Iterator[tuple[int, float]]:
        """A type and its base types, the nearest first, with the confidence of each."""
        pending, seen = deque([(number, EXACT)]), {number}
        while pending:
            current, confidence = pending.popleft()
            yield current, confidence
            for base_type in self.bases(current):
                for base in base_type.numbers:
                    if base not in seen and len(seen) < _MAX_LINEAGE:
                        seen.add(base)
                        pending.append((base, min(confidence, base_type.confidence, WILDCARD)))

    def lineages(self, numbers: Iterable[int]) -> frozenset[int]:
        """Types and all of their base types."""
        return frozenset(base for number in numbers for base, _ in self.lineage(number))

    def dotted(self, scope: int, segments: Sequence[str]) -> Found | None:
        """The target of a dotted name, variables aside."""
        resolved = self._nested_type(scope, segments[0]) or self._visible(scope, segments[0])
        for segment in segments[1:]:
            resolved = self.step(resolved, segment) if resolved else None
        return resolved

    def unqualified(self, scope: int, name: str) -> Found | None:
        """The target of a name without a receiver where it is called."""
        for around in self._types_around(scope) if self.rules.implicit_members else ():
            member = self.of_type(around, name)
            if member is not None:
                return member
        return self._visible(scope, name)

    def of_type(self, number: int, name: str, inherited: bool = False) -> Found | None:
        """A member of a type or else of its base types; of the latter only when `inherited`."""
        for owner, confidence in self.lineage(number):
            members = () if inherited and owner == number else self.table.members(owner, name)
            if members:
                return Found(members, confidence)
        return None

    def step(self, resolved: Found, name: str) -> Found | None:
        """The member `name` of the value found so far."""
        numbers: list[int | str] = []
        confidence = resolved.confidence
        for ref in resolved.refs:
            is_type = isinstance(ref, int) and self.table.definitions[ref].construct != "module"
            member = self.of_type(ref, name) if isinstance(ref, int) and is_type else self.rules.member(ref, name)
            if member is None and isinstance(ref, int):
                member = self._of_returned(ref, name)
            if member is not None:
                numbers.extend(member.refs)
                confidence = min(confidence, member.confidence)
        return Found(tuple(numbers), confidence) if numbers else None

    def field(self, number: int, name: str) -> tuple[int, Binding] | None:
        """The field of a type or of its base types, with the part of the type that declares it."""
        for owner, _ in self.lineage(number):
            for part in self.table.parts_with(owner, name):
                binding = self.table.variable(part, name)
                if binding is not None:
                    return part, binding
        return None

    def field_owners(self, resolved: Found, name: str) -> tuple[int, ...]:
        """The types that have a field of that name, which has no definition of its own."""
        fields = (self.field(number, name) for number in resolved.numbers)
        return tuple(dict.fromkeys(field[0] for field in fields if field is not None))

    def variable(self, scope: int, name: str) -> tuple[int, Binding] | None:
        """The variable that a name means in a scope, with the definition around it."""
        number = scope
        while number >= 0:
            is_type = self.table.definitions[number].construct == "type"
            binding = None if is_type else self.table.variable(number, name)
            if binding is not None:
                return number, binding
            parent, owner = self.table.parent_of(number), self.table.owner_of(number)
            # A member that is defined outside of its type sees the fields of it as well.
            around = number if is_type else owner if owner != parent else -1
            field = self.field(around, name) if around >= 0 and self.rules.implicit_members else None
            if field is not None:
                return field
            number = parent
        return None

    def local_variable(self, scope: int, name: str) -> tuple[int, Binding] | None:
        """The variable that a name is inside of a callable; None for those of the file, a module or a type."""
        variable = self.variable(scope, name)
        return variable if variable and self.table.definitions[variable[0]].construct == "callable" else None

    def _of_returned(self, number: int, name: str) -> Found | None:
        """The declaration under a name in a function that represents the object it returns."""
        binding = self.table.variable(number, RETURNED)
        definition = self.table.definitions[number]
        local = self.table.local(number, name)
        is_returned = binding is not None and binding.value == definition.name and definition.construct == "callable"
        return Found((local,), EXACT) if is_returned and local is not None else None

    def _visible(self, scope: int, name: str) -> Found | None:
        local = self.table.local(scope, name)
        if local is not None:
            return Found((local,), EXACT)
        resolved = self.rules.visible(scope, name)
        if resolved is None or len(resolved.refs) <= _MAX_ALIKE:
            return resolved
        near = self.table.nearest(self.table.file_of(scope), resolved.numbers)
        return Found(near, resolved.confidence) if len(near) <= _MAX_ALIKE else None

    def _types_around(self, scope: int) -> Iterator[int]:
        around = self.table.enclosing_type(scope)
        while around is not None:
            yield around
            parent = self.table.parent_of(around)
            around = self.table.enclosing_type(parent) if parent >= 0 else None

    def _nested_type(self, scope: int, name: str) -> Found | None:
        """A type declared in one of the types around a place."""
        for around in self._types_around(scope) if self.rules.implicit_members else ():
            numbers = tuple(filter(self.table.is_type, self.table.members(around, name)))
            if numbers:
                return Found(numbers, EXACT)
        return None


class Extensions:
    """The extension methods of one table by name."""

    def __init__(self, lookup: MemberLookup) -> None:
        self._lookup = lookup
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        for number, definition in enumerate(lookup.table.definitions):
            if "extension" in definition.traits and definition.parameters:
                self._named[definition.name].append(number)

    def fitting(self, scope: int, receiver: Found | None, name: str) -> Found | None:
        """The methods of that name that the file of `scope` sees and that fit the value before the dot.

        `receiver` is the type of that; nothing is found in it where the type is not of the tree, and it is None where
        nothing is known of it.
        """
        file = self._lookup.table.file_of(scope)
        imported = self._lookup.rules.import_of(file, name)
        if imported is not None and imported.name not in ("", "*"):
            name = imported.name  # which the file may have given another one
        seen = [number for number in self._named.get(name, ()) if self._lookup.rules.sees(file, number)]
        fitting = tuple(number for number in seen if self._extends(number, receiver))
        if not fitting:
            return None
        is_known = receiver is not None and bool(receiver.refs)
        return Found(fitting, WILDCARD if is_known else INFERRED)

    def _extends(self, number: int, receiver: Found | None) -> bool:
        """True if a method accepts a receiver: a receiver of any type, if the tree does not state its type."""
        parameters = self._lookup.table.definitions[number].parameters
        extended = self._lookup.type_named(number, parameters[0].type_name) if parameters else None
        if receiver is None:
            return True
        if not receiver.refs:
            return extended is None
        if extended is None:
            # It takes every type, by its name a type parameter.
            stated = parameters[0].type_name if parameters else ""
            return stated in ("object", "dynamic") or (stated[:1] == "T" and not stated[1:2].islower())
        return not self._lookup.lineages(receiver.numbers).isdisjoint(extended.numbers)
