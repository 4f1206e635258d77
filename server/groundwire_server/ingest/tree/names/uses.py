"""What a name refers to that is used without being called."""

from collections.abc import Iterator

from groundwire_server.ingest.tree.facts import Reference
from groundwire_server.ingest.tree.names.calls import MAX_FAN_OUT
from groundwire_server.ingest.tree.names.lookup import Lookup
from groundwire_server.ingest.tree.names.rules import GUESSED
from groundwire_server.ingest.tree.names.table import Found


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
        if found is None:
            return
        numbers = self._table.nearest(self._table.file_of(scope), found.numbers)
        edge_type = "DecoratedBy" if reference.role == "decorator" else "References"
        for number in numbers if len(numbers) <= MAX_FAN_OUT else ():
            if self._table.definitions[number].construct != "module":
                yield edge_type, number, found.confidence if len(numbers) == 1 else min(found.confidence, GUESSED)

    def value(self, scope: int, path: str) -> Found | None:
        """What a path names, or the type whose field it is, unless that is the type around."""
        found = self._lookup.named(scope, path)
        before, _, name = path.rpartition(".")
        value = self._lookup.value(scope, before) if found is None and before else None
        owners = self._lookup.field_owners(value.found, name) if value is not None else ()
        around = self._table.enclosing_type(scope)
        owners = tuple(owner for owner in owners if owner != around)
        return Found(owners, value.found.confidence) if value is not None and owners else found
