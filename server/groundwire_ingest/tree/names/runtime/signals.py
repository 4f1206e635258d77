"""Signals: objects that some callables are connected to, and that others send."""

from collections import defaultdict
from collections.abc import Iterator

from groundwire_ingest.tree.facts import Call
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import INFERRED, WILDCARD
from groundwire_ingest.tree.names.uses import Uses

MAX_LISTENERS = 16
"""A signal that more callables listen to than this leads to none of them in particular."""

_MAX_KNOWN = 10 * MAX_LISTENERS

_CONNECTS = frozenset({"connect", "connect_via"})
_SENDS = frozenset({"send", "send_robust", "send_async", "asend", "asend_robust"})


class Signals:
    """The listeners of each signal that is a variable of the tree, and of each type whose signals others send."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._uses = uses
        self._table = lookup.table
        self._listeners: defaultdict[int, set[int]] = defaultdict(set)
        for file, facts in enumerate(self._table.files):
            for call in facts.calls:
                if call.name in _CONNECTS and call.receiver:
                    self._add(self._table.module_of(file) + call.scope, call)

    def sent(self, scope: int, call: Call) -> Iterator[tuple[int, float]]:
        """The callables that listen to the signal that a call sends."""
        if call.name in _SENDS and call.receiver:
            for signal in self._named(scope, call.receiver, "value"):
                yield from ((listener, WILDCARD) for listener in self._heard(scope, signal))

    def handlers(self, number: int) -> Iterator[tuple[int, float]]:
        """The callables that listen to what happens to the instances of a type."""
        if self._table.definitions[number].construct == "type":
            yield from ((listener, INFERRED) for listener in self._heard(number, number))

    def _add(self, scope: int, call: Call) -> None:
        listeners = [number for path in call.arguments for number in self._named(scope, path, "callable")]
        senders = [number for path in call.arguments for number in self._named(scope, path, "type")]
        for signal in (*self._named(scope, call.receiver, "value"), *senders):
            self._listeners[signal].update(listeners)

    def _named(self, scope: int, path: str, construct: str) -> tuple[int, ...]:
        found = self._uses.value(scope, path) if path.strip('"') and "()" not in path else None
        numbers = found.numbers if found is not None else ()
        return tuple(number for number in numbers if self._table.definitions[number].construct == construct)

    def _heard(self, scope: int, signal: int) -> list[int]:
        """The listeners to a signal, those in tests for tests alone."""
        listeners = self._listeners.get(signal, ())
        found = sorted(listeners) if len(listeners) <= _MAX_KNOWN else []
        is_test = self._table.files[self._table.file_of(scope)].is_test
        heard = [number for number in found if is_test or not self._table.files[self._table.file_of(number)].is_test]
        return heard if len(heard) <= MAX_LISTENERS else []
