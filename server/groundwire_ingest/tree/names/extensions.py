"""Extension methods: those that are called as if they were members of their first parameter's type."""

from collections import defaultdict

from groundwire_ingest.tree.names.members import MemberLookup
from groundwire_ingest.tree.names.rules import INFERRED, WILDCARD
from groundwire_ingest.tree.names.table import Found


class Extensions:
    """The extension methods of one table by name."""

    def __init__(self, lookup: MemberLookup) -> None:
        self._lookup = lookup
        self._named: defaultdict[str, list[int]] = defaultdict(list)
        for number, definition in enumerate(lookup.table.definitions):
            if "extension" in definition.traits and definition.parameters:
                self._named[definition.name].append(number)

    def fitting(self, scope: int, receiver: Found | None, name: str) -> Found | None:
        """The methods of that name that the file of `scope` sees and that fit what stands before the dot.

        `receiver` is the type of that; nothing is found in it where the type is not of the tree, and it is None where
        nothing is known of it.
        """
        file = self._lookup.table.file_of(scope)
        seen = [number for number in self._named.get(name, ()) if self._lookup.rules.sees(file, number)]
        fitting = tuple(number for number in seen if self._extends(number, receiver))
        if not fitting:
            return None
        is_known = receiver is not None and bool(receiver.refs)
        return Found(fitting, WILDCARD if is_known else INFERRED)

    def _extends(self, number: int, receiver: Found | None) -> bool:
        """Whether a method takes a receiver: of any type where the tree does not tell which it is."""
        parameters = self._lookup.table.definitions[number].parameters
        extended = self._lookup.type_named(number, parameters[0].type_name) if parameters else None
        if receiver is None:
            return True
        if not receiver.refs:
            return extended is None
        if extended is None:
            return parameters is not None and _is_anything(parameters[0].type_name)
        lineage = {base for ref in receiver.numbers for base, _ in self._lookup.lineage(ref)}
        return not lineage.isdisjoint(extended.numbers)


def _is_anything(type_name: str) -> bool:
    """Whether a parameter takes every type: `object`, or by its name a type parameter."""
    return type_name in ("object", "dynamic") or (type_name[:1] == "T" and not type_name[1:2].islower())
