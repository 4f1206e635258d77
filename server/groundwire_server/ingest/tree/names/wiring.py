"""What is put together at run time: registrations of implementations, and messages with those who handle them."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from groundwire_server.ingest.tree.facts import Call
from groundwire_server.ingest.tree.languages.types import arguments, head, names_in, value_type
from groundwire_server.ingest.tree.names.lookup import Lookup
from groundwire_server.ingest.tree.names.rules import GUESSED, INFERRED, WILDCARD

SENT_BESIDE = 0.8
"""A message is made in a node that sends something."""
SAME_NAME = 0.8
"""A message of another service has the same name, by which buses tell them apart."""
MADE = 0.6
"""A message is made, and perhaps sent elsewhere."""

_HANDLES = re.compile(r"handle|consum|listen|subscri|observ|react", re.IGNORECASE)
_SENDS = re.compile(
    r"^(?:\w*(?:send|publish|dispatch|emit|raise|notify|enqueue|broadcast)\w*"
    r"|(?:add|save|push|append|record|store)\w*event\w*|fire|trigger|execute|handle|invoke|request|ask|post)(?:async)?$",
    re.IGNORECASE,
)
MAX_HANDLERS = 32
"""A message with more handlers than this leads to none of them in particular."""


class Registrations:
    """Which types are registered for which interfaces, anywhere in the tree."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._bound: defaultdict[int, set[int]] = defaultdict(set)
        table = lookup.table
        for file, facts in enumerate(table.files):
            for call in facts.calls:
                pair = self.pair(table.module_of(file) + call.scope, call)
                if pair is not None and not facts.is_test:
                    self._bound[pair[0]].add(pair[1])

    @property
    def bound(self) -> Mapping[int, frozenset[int]]:
        """The types registered for each interface or base class."""
        return {number: frozenset(types) for number, types in self._bound.items()}

    def pair(self, scope: int, call: Call) -> tuple[int, int] | None:
        """The interface and the implementation of `Add<I, T>(...)`: two types, the second derived from the first.

        The types may also be the arguments, as in `bind(I, T)` or `Add(typeof(I), typeof(T))`.
        """
        given = call.type_arguments if len(call.type_arguments) == 2 else call.arguments[:2]
        if len(given) != 2:
            return None
        found = [self._lookup.type_named(scope, name) if name.strip('"') else None for name in given]
        if found[0] is None or found[1] is None:
            return None
        interface, implementation = found[0].numbers[0], found[1].numbers[0]
        lineage = {number for number, _ in self._lookup.lineage(implementation)}
        return (interface, implementation) if interface in lineage and interface != implementation else None


class Messages:
    """The handlers of each type that is sent about: commands, requests, notifications, events."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._handlers: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for number, definition in enumerate(self._table.definitions):
            for base in definition.bases if definition.construct == "type" else ():
                if _HANDLES.search(head(base)):
                    self._add_handlers(number, base)
        self._add_same_named()

    def handlers(self, message: int) -> Mapping[int, float]:
        """The members that handle a type of message, with the confidence of each."""
        found = self._handlers.get(message, {})
        return found if len(found) <= MAX_HANDLERS else {}

    @property
    def handled(self) -> Iterator[int]:
        """The types of messages that something handles."""
        return iter(self._handlers)

    def sent(self, scope: int, call: Call, *, sends_beside: bool) -> Iterator[tuple[int, float]]:
        """The types of messages that a call sends or makes; `sends_beside` when its node sends something as well."""
        if call.constructs:
            for message in self._messages_named(scope, call.receiver, call.name):
                yield message, SENT_BESIDE if sends_beside else MADE
        elif is_sending(call):
            for argument in call.arguments:
                value = self._lookup.value(scope, argument) if argument not in ("", '"') else None
                for number in value.found.numbers if value else ():
                    if number in self._handlers:
                        yield number, WILDCARD
        for name in call.type_arguments if is_sending(call) or call.constructs else ():
            for message in self._messages_named(scope, "", name):
                yield message, INFERRED

    def _messages_named(self, scope: int, receiver: str, name: str) -> tuple[int, ...]:
        found = self._lookup.type_named(scope, f"{receiver}.{name}" if receiver else name)
        return tuple(number for number in found.numbers if number in self._handlers) if found else ()

    def _add_handlers(self, number: int, base: str) -> None:
        """The members of a type that take what its base says that it handles."""
        for written in arguments(base):
            message = self._lookup.type_named(number, value_type(written))
            if message is None:
                continue
            for member in (one for part in self._table.parts(number) for one in self._table.members_of(part)):
                definition = self._table.definitions[member]
                takes = {head(value_type(parameter.type_name)) for parameter in definition.parameters or ()}
                is_method = definition.construct == "callable" and definition.name != self._name(number)
                if is_method and head(value_type(written)) in takes:
                    self._handlers[message.numbers[0]][member] = message.confidence

    def _add_same_named(self) -> None:
        """What handles a message of one name handles those of other services that are called the same."""
        by_name: defaultdict[str, list[int]] = defaultdict(list)
        for number, definition in enumerate(self._table.definitions):
            if definition.construct == "type":
                by_name[definition.name].append(number)
        for message, handlers in list(self._handlers.items()):
            definition = self._table.definitions[message]
            bases = {head(base).rpartition(".")[2] for base in definition.bases}
            for other in by_name[definition.name]:
                alike = bases & {head(base).rpartition(".")[2] for base in self._table.definitions[other].bases}
                if other != message and (alike or not bases):
                    for member, confidence in handlers.items():
                        known = self._handlers[other].get(member, 0.0)
                        self._handlers[other][member] = max(known, min(confidence, SAME_NAME if alike else GUESSED))

    def _name(self, number: int) -> str:
        return self._lookup.rules.constructor_name(number)


def is_sending(call: Call) -> bool:
    """Whether a call's name says that it passes a message on."""
    return not call.constructs and _SENDS.match(call.name) is not None


def specialized(lookup: Lookup) -> dict[int, dict[int, float]]:
    """For each type those that derive from a generic type with it as an argument, and their members that take it.

    That is how configurations, validators, repositories, serializers and comparers of a type name it.
    """
    found: defaultdict[int, dict[int, float]] = defaultdict(dict)
    table = lookup.table
    for number, definition in enumerate(table.definitions):
        for written in (name for base in definition.bases for name in arguments(base)):
            about = lookup.type_named(number, value_type(written))
            if about is None:
                continue
            argument, *others = about.numbers
            if others or argument == number:
                continue
            found[argument][number] = about.confidence
            for member in table.members_of(number):
                takes = (
                    name for item in table.definitions[member].parameters or () for name in names_in(item.type_name)
                )
                if head(written) in takes:
                    found[argument][member] = about.confidence
    return {number: others for number, others in found.items() if len(others) <= MAX_HANDLERS}
