"""What programs hand over where they are put together: a value of a type for a parameter that is an interface."""

from collections import defaultdict
from collections.abc import Mapping

from groundwire_ingest.tree.facts import Call
from groundwire_ingest.tree.names.calls import CallResolution
from groundwire_ingest.tree.names.inheritance import Inheritance
from groundwire_ingest.tree.names.lookup import Lookup


class HandedOver:
    """The types of which values are passed as interfaces that types satisfy without naming them."""

    def __init__(self, lookup: Lookup, calls: CallResolution, inheritance: Inheritance) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._calls = calls
        self._inheritance = inheritance
        self._bound: defaultdict[int, set[int]] = defaultdict(set)
        takes = {number for number in range(len(self._table.definitions)) if self._interfaces(number)}
        names = {self._table.definitions[number].name for number in takes}
        for file, facts in enumerate(self._table.files):
            for call in facts.calls if not facts.is_test else ():
                if call.name in names and any(call.arguments):
                    self._add(self._table.module_of(file) + call.scope, call)

    @property
    def bound(self) -> Mapping[int, frozenset[int]]:
        """The types handed over for each interface."""
        return {number: frozenset(types) for number, types in self._bound.items()}

    def _add(self, scope: int, call: Call) -> None:
        found = self._calls.called(scope, call)
        for number in found.numbers if found is not None and len(found.numbers) == 1 else ():
            for place, interface in self._interfaces(number).items():
                argument = call.arguments[place] if place < len(call.arguments) else ""
                value = self._lookup.value(scope, argument) if argument not in ("", '"') else None
                for given in value.found.numbers if value is not None else ():
                    if given in self._inheritance.implementing(interface):
                        self._bound[interface].add(given)

    def _interfaces(self, number: int) -> dict[int, int]:
        """The interfaces among the types of a callable's parameters, by the place of the parameter."""
        found: dict[int, int] = {}
        definition = self._table.definitions[number]
        for place, parameter in enumerate(definition.parameters or () if definition.construct == "callable" else ()):
            stated = self._lookup.type_named(number, parameter.type_name) if parameter.type_name else None
            for interface in stated.numbers if stated is not None else ():
                if "structural" in self._table.definitions[interface].traits:
                    found[place] = interface
        return found
