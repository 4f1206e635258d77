"""Functions that code puts into the fields of objects, and the calls that take them out of there."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from groundwire_index.repository_edges.confidences import GUESSED, INFERRED, MAX_FAN_OUT
from groundwire_ingest.tree.code_facts import Call, FieldValue
from groundwire_ingest.tree.names.calls import Uses
from groundwire_ingest.tree.names.lookup import Lookup

MAX_KEPT = 64
"""A field with more functions than this leads to none of them in particular, so further ones are not kept."""

_ARGUMENT = re.compile(r"(.+)\((\d{1,3})\)")


class FieldFunctions:
    """The functions in each field of a type, over all files of one language family."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._lookup = lookup
        self._uses = uses
        self._table = lookup.table
        self._names = {item.name for item in self._table.definitions if item.construct == "callable"}
        self._kept: defaultdict[tuple[int, str], dict[int, bool]] = defaultdict(dict)
        self._fields: set[str] = set()
        self._set_otherwise: set[tuple[int, str]] = set()
        others: list[tuple[int, FieldValue]] = []
        for file, facts in enumerate(self._table.files):
            for item in facts.field_values:
                scope = self._table.module_of(file) + item.scope
                is_named = item.value.rpartition(".")[2] in self._names
                if (not is_named or not self._keep(scope, item, is_test=facts.is_test)) and not facts.is_test:
                    others.append((scope, item))
        for scope, item in others:
            owner = self._owner_of(scope, item) if item.name in self._fields else None
            if owner is not None:
                self._set_otherwise.add((owner, item.name))

    def called(self, scope: int, call: Call) -> Iterator[tuple[int, float]]:
        """The functions that a call in definition `scope` of what is in a field may be to, with their confidence."""
        if call.constructs or self._fields.isdisjoint((call.name, call.receiver.rpartition(".")[2])):
            return
        is_test = self._table.is_test(scope)
        for path in self._called_paths(scope, call):
            owner = self._owner_at(scope, *path) if path[1] in self._fields else None
            kept = self._kept.get((owner, path[1]), {}) if owner is not None else {}
            numbers = [number for number, only_in_tests in kept.items() if is_test or not only_in_tests]
            is_only = len(numbers) == 1 and (owner, path[1]) not in self._set_otherwise
            for number in numbers if len(numbers) <= MAX_FAN_OUT else ():
                yield number, INFERRED if is_only else GUESSED

    def _keep(self, scope: int, item: FieldValue, *, is_test: bool) -> bool:
        """Keeps the function that a field is set to; False where it is set to something else."""
        bodies = self._lookup.rules.bodies
        named = [body for number in self._uses.numbers(scope, item.value) for body in bodies(number) or (number,)]
        numbers = [
            number
            for number in named
            if self._table.definitions[number].construct == "callable" and self._has_node(number)
        ]
        owner = self._owner_of(scope, item) if len(numbers) == 1 else None
        if owner is None:
            return False
        kept = self._kept[owner, item.name]
        if numbers[0] in kept or len(kept) < MAX_KEPT:
            kept[numbers[0]] = kept.get(numbers[0], True) and is_test
            self._fields.add(item.name)
        return True

    def _has_node(self, number: int) -> bool:
        """True unless a function is a part of the text of the one around it."""
        definition, parent = self._table.definitions[number], self._table.parent_of(number)
        return "local" not in definition.traits or definition.key != self._table.definitions[parent].key

    def _owner_of(self, scope: int, item: FieldValue) -> int | None:
        """The type that declares the field which is set."""
        given_to = _ARGUMENT.fullmatch(item.holder)
        if item.type_name:
            stated = self._lookup.type_named(scope, item.type_name)
            return self._declaring(stated.numbers, item.name) if stated is not None else None
        if given_to is None:
            return self._owner_at(scope, item.holder, item.name)
        taking = self._uses.numbers(scope, given_to[1])
        place = int(given_to[2])
        parameters = self._table.definitions[taking[0]].parameters or () if len(taking) == 1 else ()
        if place >= len(parameters) or not parameters[place].type_name:
            return None
        stated = self._lookup.type_named(taking[0], parameters[place].type_name)
        return self._declaring(stated.numbers, item.name) if stated is not None else None

    def _owner_at(self, scope: int, path: str, name: str) -> int | None:
        """The type with a field of an object that a path leads to, or of the object around where the path is empty."""
        if path:
            value = self._lookup.value(scope, path) if not path.startswith("?") else None
            numbers = value.resolved.numbers if value is not None else ()
            return self._declaring(filter(self._table.is_type, numbers), name)
        if not self._lookup.rules.implicit_members or self._lookup.local_variable(scope, name) is not None:
            return None
        around = self._table.enclosing_type(scope)
        return self._declaring((around,), name) if around is not None else None

    def _declaring(self, types: Iterable[int], name: str) -> int | None:
        """The type that declares a field, among types and their base types; None where a method has its name.

        Where the tree states no declaration, it is the first of the types.
        """
        known_types = list(types)
        for number in known_types:
            for base, _ in self._lookup.lineage(number):
                definitions = [self._table.definitions[member] for member in self._table.members(base, name)]
                if any(item.construct != "value" and not item.is_abstract for item in definitions):
                    return None
                parts = self._table.parts(base)
                if definitions or any(self._table.variable(part, name) is not None for part in parts):
                    return parts[0]
        return self._table.parts(known_types[0])[0] if known_types else None

    def _called_paths(self, scope: int, call: Call) -> Iterator[tuple[str, str]]:
        """The path of an object and the name of its field whose value a call may run."""
        variable = self._lookup.local_variable(scope, call.name) if not call.receiver else None
        if variable is not None:
            before, _, name = variable[1].value.rpartition(".")
            if before and not name.endswith("()"):
                yield before, name
            return
        yield call.receiver, call.name
        if call.name in self._lookup.rules.invoking:
            before, _, name = call.receiver.rpartition(".")
            yield before, name
