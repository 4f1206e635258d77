"""What a name refers to that is used without being called."""

from collections.abc import Iterator

from groundwire_ingest.tree.facts import Reference
from groundwire_ingest.tree.names.calls import MAX_FAN_OUT
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import GUESSED
from groundwire_ingest.tree.names.table import Found


class Uses:
    """Resolves the references of one language family."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table

    def of(self, scope: int, reference: Reference) -> Iterator[tuple[str, int, float]]:
        """The edge types, definitions and confidences that a reference in definition `scope` leads to."""
        if reference.role == "type":
            found = self._lookup.type_named(scope, reference.name)
        else:
            found = self.value(scope, reference.name)
            if found is None and reference.role == "decorator" and "." in reference.name:
                found = self.value(scope, reference.name.rpartition(".")[0])
        if found is None:
            return
        named = dict.fromkeys(
            body for number in found.numbers for body in self._lookup.rules.bodies(number) or (number,)
        )
        numbers = self._table.nearest(self._table.file_of(scope), tuple(named))
        edge_type = "DecoratedBy" if reference.role == "decorator" else "References"
        for number in numbers if len(numbers) <= MAX_FAN_OUT else ():
            if self._table.definitions[number].construct != "module":
                yield edge_type, number, found.confidence if len(numbers) == 1 else min(found.confidence, GUESSED)

    def value(self, scope: int, path: str) -> Found | None:
        """What a path names: the member it ends with, or the type that it is; nothing for a variable."""
        before, _, name = path.rpartition(".")
        if not before:
            return None if self._lookup.local_variable(scope, name) else self._lookup.unqualified(scope, name)
        value = self._lookup.value(scope, before)
        if value is None or not value.found.refs:
            return None
        member = self._lookup.step(value.found, name)
        if member is not None:
            return member
        around = self._table.enclosing_type(scope)
        owners = tuple(owner for owner in self._lookup.field_owners(value.found, name) if owner != around)
        return Found(owners, value.found.confidence) if owners else None
