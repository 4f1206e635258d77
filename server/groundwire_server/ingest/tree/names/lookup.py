"""Following a dotted expression from the place where it stands to what it refers to."""

from collections import deque
from collections.abc import Iterator, Sequence

from groundwire_server.ingest.tree.facts import Binding
from groundwire_server.ingest.tree.names.rules import EXACT, INFERRED, WILDCARD, NameRules
from groundwire_server.ingest.tree.names.table import Found


class Lookup:
    """Answers for one table. A scope is the number of the definition in which a name stands."""

    def __init__(self, rules: NameRules) -> None:
        self.rules = rules
        self.table = rules.table
        self._types: dict[tuple[int, str], Found | None] = {}
        self._bases: dict[int, tuple[Found, ...]] = {}
        self._receivers: dict[tuple[int, str], Found | None] = {}

    def type_named(self, scope: int, dotted: str) -> Found | None:
        """The type that a dotted name stands for; also a JavaScript function that has members."""
        key = (scope, dotted)
        if key not in self._types:
            found = self.dotted(scope, dotted.split("."))
            numbers = tuple(filter(self.table.is_type, found.numbers)) if found else ()
            numbers = self.table.nearest(self.table.file_of(scope), numbers)
            self._types[key] = Found(numbers, found.confidence) if found and numbers else None
        return self._types[key]

    def bases(self, number: int) -> tuple[Found, ...]:
        """The base types of a type, as far as they stand in the tree, in the order in which they are written."""
        if number not in self._bases:
            named = [
                self.type_named(part, name)
                for part in self.table.parts(number)
                for name in self.table.definitions[part].bases
            ]
            self._bases[number] = tuple(found for found in named if found and number not in found.refs)
        return self._bases[number]

    def lineage(self, number: int) -> Iterator[tuple[int, float]]:
        """A type and its base types, the nearest first, with the confidence of each."""
        pending, seen = deque([(number, EXACT)]), {number}
        while pending:
            current, confidence = pending.popleft()
            yield current, confidence
            for found in self.bases(current):
                for base in found.numbers:
                    if base not in seen:
                        seen.add(base)
                        pending.append((base, min(confidence, found.confidence, WILDCARD)))

    def dotted(self, scope: int, segments: Sequence[str]) -> Found | None:
        """What a dotted name stands for, variables aside."""
        found = self._nested_type(scope, segments[0]) or self.rules.visible(scope, segments[0])
        for segment in segments[1:]:
            found = self.step(found, segment) if found else None
        return found

    def unqualified(self, scope: int, name: str) -> Found | None:
        """What a name without a receiver stands for where it is called."""
        for around in self._types_around(scope) if self.rules.implicit_members else ():
            found = self.of_type(around, name)
            if found is not None:
                return found
        return self.rules.visible(scope, name)

    def of_type(self, number: int, name: str, inherited: bool = False) -> Found | None:
        """A member of a type or else of its base types; of the latter only when `inherited`."""
        for owner, confidence in self.lineage(number):
            members = () if inherited and owner == number else self.table.members(owner, name)
            if members:
                return Found(members, confidence)
        return None

    def step(self, found: Found, name: str) -> Found | None:
        """The member `name` of whatever has been found so far."""
        numbers: list[int | str] = []
        confidence = found.confidence
        for ref in found.refs:
            is_type = isinstance(ref, int) and self.table.definitions[ref].construct != "module"
            member = self.of_type(ref, name) if isinstance(ref, int) and is_type else self.rules.member(ref, name)
            if member is not None:
                numbers.extend(member.refs)
                confidence = min(confidence, member.confidence)
        return Found(tuple(numbers), confidence) if numbers else None

    def receiver(self, scope: int, path: str) -> Found | None:
        """The type, module or namespace that a receiver is, or is an instance of."""
        key = (scope, path)
        if key not in self._receivers:
            first, *others = path.split(".")
            found = self._first(scope, first)
            for segment in others:
                found = self._into(scope, found, segment) if found else None
            self._receivers[key] = found
        return self._receivers[key]

    def variable(self, scope: int, name: str) -> tuple[int, Binding] | None:
        """The variable that a name is in a scope, with the definition that it stands in."""
        number = scope
        while number >= 0:
            if self.table.definitions[number].construct == "type":
                field = self._field(number, name) if self.rules.implicit_members else None
                if field is not None:
                    return field
            else:
                binding = self.table.variable(number, name)
                if binding is not None:
                    return number, binding
            number = self.table.parent_of(number)
        return None

    def _first(self, scope: int, name: str) -> Found | None:
        around = self.table.enclosing_type(scope)
        if name in self.rules.self_names:
            return None if around is None else Found((around,), EXACT)
        if name in self.rules.super_names:
            bases = self.bases(around) if around is not None else ()
            return Found(tuple(ref for base in bases for ref in base.refs), WILDCARD) if bases else None
        if name.endswith("()"):
            return self.type_named(scope, name.removesuffix("()"))
        variable = self.variable(scope, name)
        return self._type_of(*variable) if variable else self.dotted(scope, (name,))

    def _into(self, scope: int, found: Found, segment: str) -> Found | None:
        """The type of a field, or what a type, module or namespace holds under a name."""
        if segment.endswith("()"):
            made = self.step(found, segment.removesuffix("()"))
            numbers = tuple(filter(self.table.is_type, made.numbers)) if made else ()
            return Found(numbers, made.confidence) if made and numbers else None
        for number in found.numbers:
            field = self._field(number, segment)
            if field is not None:
                declared = self._type_of(*field)
                return declared and declared.at_most(found.confidence)
        return self.step(found, segment)

    def _field(self, number: int, name: str) -> tuple[int, Binding] | None:
        for owner, _ in self.lineage(number):
            binding = self.table.variable(owner, name)
            if binding is not None:
                return owner, binding
        return None

    def _type_of(self, number: int, binding: Binding) -> Found | None:
        found = self.type_named(number, binding.type_name)
        return found and found.at_most(WILDCARD if binding.stated else INFERRED)

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
