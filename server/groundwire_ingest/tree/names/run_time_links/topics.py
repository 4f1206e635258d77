"""Messages identified by a name, and signals that are objects: their senders and handlers."""

from collections import defaultdict
from collections.abc import Iterator

from groundwire_index.repository_edges.confidences import INFERRED, WILDCARD
from groundwire_index.repository_edges.messages import MAX_TOPIC_HANDLERS, Message, MessageHandler, MessageUse
from groundwire_ingest.tree.code_facts import Call
from groundwire_ingest.tree.framework_facts import Topic
from groundwire_ingest.tree.names.calls import Uses
from groundwire_ingest.tree.names.lookup import Lookup

Subject = tuple[int, str]
"""A message: its constant, -1 for none, and the rest of its name."""


class Topics:
    """The handlers of each name in one language family."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._uses = uses
        self._table = lookup.table
        self._handlers: defaultdict[Subject, dict[int, None]] = defaultdict(dict)
        table = self._table
        for file, facts in enumerate(table.files):
            for topic in facts.topics if not facts.is_test else ():
                scope = table.module_of(file) + topic.scope
                subject = self._subject(scope, topic) if topic.handles else None
                if subject is not None:
                    handlers = uses.numbers(scope, topic.handler) if topic.handler else (scope,)
                    self._handlers[subject].update(dict.fromkeys(handlers))

    def handlers(self, scope: int, topic: Topic) -> Iterator[tuple[int, float]]:
        """The handlers of a message that is sent in definition `scope`, with the confidence of each."""
        subject = self._subject(scope, topic) if not topic.handles else None
        handlers = self._handlers.get(subject, {}) if subject is not None else {}
        for number in handlers if len(handlers) <= MAX_TOPIC_HANDLERS else ():
            yield number, INFERRED

    def offered(self, family: str) -> Iterator[MessageHandler]:
        """The handlers of topics that are strings, for other trees that send to them."""
        for (constant, name), handlers in self._handlers.items():
            for number in handlers if constant < 0 else ():
                key = self._table.definitions[number].key
                yield MessageHandler(Message(family, name, is_topic=True), key, "", INFERRED)

    def wanted(self, family: str) -> Iterator[MessageUse]:
        """What is sent to topics that are strings."""
        for facts in self._table.files:
            for topic in facts.topics:
                if topic.name and not topic.handles:
                    message = Message(family, topic.name, is_topic=True)
                    yield MessageUse(message, topic.from_key, "Sends", topic.line, INFERRED)

    def _subject(self, scope: int, topic: Topic) -> Subject | None:
        if topic.name:
            return -1, topic.name
        first, _, rest = topic.path.partition(".")
        numbers = self._uses.numbers(scope, first) if rest else ()
        return (numbers[0], rest) if len(numbers) == 1 else None


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
        numbers = self._uses.numbers(scope, path) if path.strip('"') and "()" not in path else ()
        return tuple(number for number in numbers if self._table.definitions[number].construct == construct)

    def _heard(self, scope: int, signal: int) -> list[int]:
        """The listeners to a signal, those in tests for tests alone."""
        listeners, is_test = self._listeners.get(signal, ()), self._table.is_test
        known_listeners = sorted(listeners) if len(listeners) <= _MAX_KNOWN else []
        heard = [number for number in known_listeners if is_test(scope) or not is_test(number)]
        return heard if len(heard) <= MAX_LISTENERS else []
