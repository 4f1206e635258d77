"""Links made at run time: registrations of implementations, and messages with their handlers."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from groundwire_index.repository_edges.confidences import INFERRED, WILDCARD
from groundwire_index.repository_edges.messages import MAX_HANDLERS, MessageHandler, sameness
from groundwire_index.repository_edges.messages import Message as NamedMessage
from groundwire_ingest.tree.code_facts import Call, CodeFacts
from groundwire_ingest.tree.framework_facts import Registration, Topic
from groundwire_ingest.tree.languages.types import arguments, head, item_type, names_in, value_type
from groundwire_ingest.tree.names.calls import Uses
from groundwire_ingest.tree.names.lookup import Lookup

SENT_BESIDE = 0.8
"""A message is made in a node that sends something."""
MADE = 0.6
"""A message is made, and perhaps sent elsewhere."""

_HANDLES = re.compile(r"handle|consum|listen|subscri|observ|reacts?to", re.IGNORECASE)
_LISTENS = re.compile(r"(?:^|\.|[a-z])(?:Listener|(?:Event|Command|Query|Message)Handler|Subscribe|Incoming)$")
# The names of calls that register one type for another, and those of calls that relate them in another way.
_REGISTERS = re.compile(
    r"^_*(?:try_?)?(?:add|register|bind|provide|replace|decorate|override|use|inject|wire|singleton|transient|scoped|alias"
    r"|forward|implement)|^to$",
    re.IGNORECASE,
)
_RELATES = re.compile(
    r"(?:sub|derived|known)_?types?$|map(?:ping)?s?$|profile$|conver(?:ter|sion)$|comparer$", re.IGNORECASE
)
_AROUND = re.compile(r"Context|Envelope|Message|Delivery|Event$")
_PUBLISHES = re.compile(
    r"^(?:\w*(?:send|publish|dispatch|emit|raise|notify|enqueue|broadcast)|(?:add|push|append|record|store)\w*event)",
    re.IGNORECASE,
)
_SENDS = re.compile(
    r"^(?=\w++$)(?:\w*(?:send|publish|dispatch|emit|raise|notify|enqueue|broadcast)"
    r"|(?:add|save|push|append|record|store)\w*event|(?:fire|trigger|execute|handle|invoke|request|ask|post)(?:async)?$)",
    re.IGNORECASE,
)
_SUBSCRIBES = re.compile(
    r"^(?:subscribe|consume|listen|handle|receive|register_?(?:handler|consumer|subscriber))", re.I
)

Message = tuple[int, tuple[str, ...]]
"""A type of message and its type arguments, as far as they are known: `EntityAdded<Order>` is not that of a customer.

An argument is the number of its definition or, of one outside of the tree, its name.
"""


class Registrations:
    """Which types are registered for which interfaces, anywhere in the tree: `bound` has them by interface or base."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._lookup = lookup
        self._uses = uses
        self.bound: defaultdict[int, set[int]] = defaultdict(set)
        self._by_name: defaultdict[str, set[int]] = defaultdict(set)
        table = lookup.table
        self._providers = {
            table.module_of(file) + reference.scope
            for file, facts in enumerate(table.files)
            for reference in facts.references
            if reference.role == "decorator" and reference.name in lookup.frameworks.providing
        }
        for file, facts in enumerate(table.files):
            for call in facts.calls if not facts.is_test else ():
                pair = self.pair(table.module_of(file) + call.scope, call)
                if pair is not None:
                    self.bound[pair[0]].add(pair[1])
            for registration in facts.registrations if not facts.is_test else ():
                self._add(table.module_of(file) + registration.scope, registration)

    def given(self, scope: int, registration: Registration) -> tuple[int, ...]:
        """The types that a registration provides, or that a request for its name gets."""
        if not registration.asks:
            return self._uses.numbers(scope, registration.given) if registration.given else (scope,)
        name, tokens = self._token(scope, registration)
        named = self._by_name.get(name, set()) if name else set[int]()
        return tuple(sorted(named | {other for number in tokens for other in self.bound.get(number, ())}))

    def _add(self, scope: int, registration: Registration) -> None:
        """Records the type provided for a name; a value that is not a type is recorded for its base types."""
        given = () if registration.asks else self.given(scope, registration)
        name, tokens = self._token(scope, registration)
        if name:
            self._by_name[name].update(given)
        for number in tokens:
            self.bound[number].update(other for other in given if other != number)
        is_type = self._lookup.table.is_type
        for number in given if not any(map(is_type, tokens)) else ():
            for base, _ in self._lookup.lineage(number) if is_type(number) else ():
                if base != number:
                    self.bound[base].add(number)

    def _token(self, scope: int, registration: Registration) -> tuple[str, tuple[int, ...]]:
        """The name that is asked for, or the definitions; `TYPES.Users` is the name of a part of a constant."""
        if registration.name:
            return registration.name, ()
        resolved = self._uses.value(scope, registration.path)
        if resolved is not None:
            return "", resolved.numbers
        first, _, rest = registration.path.partition(".")
        constant = self._uses.numbers(scope, first) if rest else ()
        return (f"{constant[0]}.{rest}" if len(constant) == 1 else ""), ()

    def pair(self, scope: int, call: Call) -> tuple[int, int] | None:
        """The interface and the implementation of `Add<I, T>(...)`: two types, the second derived from the first.

        The types may also be the arguments, as in `bind(I, T)` or `Add(typeof(I), typeof(T))`. Or they are the type
        that a callable provides and the type that it makes, as in `@Bean I i() { return new T(); }`.
        """
        if call.constructs:
            made = f"{call.receiver}.{call.name}"
            is_provided = scope in self._providers
            return self._derived(scope, self._lookup.table.definitions[scope].result, made) if is_provided else None
        if _REGISTERS.match(call.name) is None or _RELATES.search(call.name) is not None:
            return None
        given = call.type_arguments if len(call.type_arguments) == 2 else call.arguments[:2]
        return self._derived(scope, *given) if len(given) == 2 else None

    def _derived(self, scope: int, *given: str) -> tuple[int, int] | None:
        """Two types; the second derives from the first."""
        named_types = [self._lookup.type_named(scope, name.lstrip(".")) if name.strip('"') else None for name in given]
        if named_types[0] is None or named_types[1] is None:
            return None
        interface, implementation = named_types[0].numbers[0], named_types[1].numbers[0]
        is_derived = interface != implementation and interface in self._lookup.lineages((implementation,))
        return (interface, implementation) if is_derived else None


class Messages:
    """The handlers of each type that is sent about: commands, requests, notifications, events."""

    def __init__(self, lookup: Lookup, uses: Uses) -> None:
        self._lookup = lookup
        self._uses = uses
        self._table = lookup.table
        self._handlers: defaultdict[int, dict[int, float]] = defaultdict(dict)
        # The type arguments of what a member handles, for messages that have them.
        self._arguments: defaultdict[tuple[int, int], set[tuple[str, ...]]] = defaultdict(set)
        # The type arguments of the messages of a type that a node makes.
        self._made: defaultdict[tuple[str, int], set[tuple[str, ...]]] = defaultdict(set)
        self._published = self._published_names()
        for number, definition in enumerate(self._table.definitions):
            for base in definition.bases if definition.construct == "type" else ():
                written = next(iter(arguments(base)), "")
                if written and self._handles(number, base, written):
                    self._add_handlers(number, number, item_type(written) if head(written) == "Batch" else written)
        for file, facts in enumerate(self._table.files):
            self._add_stated(self._table.module_of(file), facts)
        self._stated = {message: dict(handlers) for message, handlers in self._handlers.items()}
        self._add_same_named()
        # What is sent under its name: messages that the tree handles, also by their names, and those that it publishes.
        self._messages = self._handlers.keys() | {
            number
            for number, definition in enumerate(self._table.definitions)
            if definition.construct == "type" and definition.name in self._published
        }

    def _add_stated(self, first: int, facts: CodeFacts) -> None:
        """Adds the handlers that a file states otherwise than by base types; `first` is the number of its module."""
        for reference in facts.references:
            if reference.role == "decorator" and _LISTENS.search(reference.name):
                self._add_listener(first + reference.scope)
        for topic in facts.topics:
            if topic.handles and topic.path:
                self._add_topic(first + topic.scope, topic)
        for call in facts.calls:
            if call.constructs and call.type_arguments:
                self._note_made(first + call.scope, call)
            if len(call.type_arguments) == 1 and _SUBSCRIBES.match(call.name):
                self._add_subscribed(first + call.scope, call)

    def named(self, family: str, number: int) -> NamedMessage | None:
        """How other trees know a type as a message; None if it is none, or if its name says too little."""
        if number not in self._messages or self._is_nested(number):
            return None
        definition = self._table.definitions[number]
        return NamedMessage(family, definition.name, _base_names(definition.bases))

    def offered(self, family: str) -> Iterator[MessageHandler]:
        """The handlers that the tree states, those in tests aside, for other trees that send the messages."""
        for number, handlers in self._stated.items():
            message = self.named(family, number)
            if message is None:
                continue
            for member, confidence in handlers.items():
                if not self._table.is_test(member):
                    key, type_key = self._table.definitions[member].key, self._table.definitions[number].key
                    yield MessageHandler(message, key, type_key, confidence)

    def handlers(self, message: int, given: tuple[str, ...] = ()) -> Mapping[int, float]:
        """The members that handle a type of message with the type arguments `given`, with the confidence of each."""
        handlers = self._handlers.get(message, {})
        if any(given):
            known = self._arguments
            handlers = {
                member: confidence
                for member, confidence in handlers.items()
                if not known[message, member] or any(_agree(given, other) for other in known[message, member])
            }
        return handlers if len(handlers) <= MAX_HANDLERS else {}

    def sent(self, scope: int, call: Call, *, sends_beside: bool) -> Iterator[tuple[Message, float]]:
        """The messages that a call sends or makes; `sends_beside` when its node sends something as well."""
        if call.constructs:
            for message in self._messages_named(scope, call.receiver, call.name):
                given = self._given(scope, call.type_arguments)
                yield (message, given), min(SENT_BESIDE if sends_beside else MADE, self._sureness(message, given))
        elif is_sending(call):
            for argument in call.arguments:
                value = self._lookup.value(scope, argument) if argument not in ("", '"') else None
                for number in value.resolved.numbers if value is not None else ():
                    if value is not None and number in self._messages:
                        stated = self._given(value.scope, arguments(value.type_name))
                        for given in [stated] if stated else sorted(self._made[call.from_key, number]) or [()]:
                            yield (number, given), self._sureness(number, given)
        for name in call.type_arguments if is_sending(call) or call.constructs else ():
            for message in self._messages_named(scope, "", name):
                yield (message, self._given(scope, arguments(name))), INFERRED

    def _sureness(self, number: int, given: tuple[str, ...]) -> float:
        """The confidence that a message which is sent by name is one with these type arguments."""
        return MADE if self._table.definitions[number].type_parameters and not all(given or ("",)) else WILDCARD

    def _given(self, scope: int, written: Iterable[str]) -> tuple[str, ...]:
        """Type arguments as `Message` has them; empty ones for type parameters, which may be any type."""
        given: list[str] = []
        for name in written:
            meant = self._lookup.type_named(scope, name)
            plain = "" if self._is_parameter(scope, name) else head(name).rpartition(".")[2]
            given.append(str(meant.numbers[0]) if meant is not None else plain)
        return tuple(given)

    def _is_parameter(self, scope: int, name: str) -> bool:
        """True if a name is that of a type parameter of a definition around."""
        while scope >= 0:
            if name in self._table.definitions[scope].type_parameters:
                return True
            scope = self._table.parent_of(scope)
        return False

    def _add_subscribed(self, scope: int, call: Call) -> None:
        """The callable that handles what `bus.Subscribe<OrderPlaced>(handler)` names, if it takes such a message."""
        written = call.type_arguments[0]
        message = self._lookup.type_named(scope, written)
        for argument in call.arguments if message is not None else ():
            for number in self._uses.numbers(scope, argument) if argument.strip('"') else ():
                definition = self._table.definitions[number]
                taken = {name for parameter in definition.parameters or () for name in _taken(parameter.type_name)}
                if message is not None and definition.construct == "callable" and head(written) in taken:
                    self._handlers[message.numbers[0]][number] = message.confidence
                    self._note_arguments(message.numbers[0], number, self._given(scope, arguments(written)))

    def _note_made(self, scope: int, call: Call) -> None:
        made = self._lookup.type_named(scope, f"{call.receiver}.{call.name}" if call.receiver else call.name)
        for number in made.numbers if made is not None else ():
            self._made[call.from_key, number].add(self._given(scope, call.type_arguments))

    def _note_arguments(self, message: int, member: int, given: tuple[str, ...]) -> None:
        if any(given):
            self._arguments[message, member].add(given)

    def _published_names(self) -> frozenset[str]:
        """The names of the types that calls publish or send, as an argument or a type argument."""
        named: set[int] = set()
        for file, facts in enumerate(self._table.files):
            for call in facts.calls:
                if call.constructs or _PUBLISHES.match(call.name) is None:
                    continue
                scope = self._table.module_of(file) + call.scope
                named.update(number for argument in call.arguments for number in self._lookup.argument(scope, argument))
                types = (self._lookup.type_named(scope, name) for name in call.type_arguments)
                named.update(
                    number for message_type in types if message_type is not None for number in message_type.numbers
                )
        return frozenset(self._table.definitions[number].name for number in named)

    def _handles(self, number: int, base: str, written: str) -> bool:
        """True if a type with a base handles what the first argument of that names.

        The base is, or derives from, a handler of a library for messages. Or the tree declares it as what handles,
        consumes or listens, and the tree publishes what it is for.
        """
        handlers = self._lookup.frameworks.handlers
        if _plain_name(base) in handlers:
            return True
        base_types = self._lookup.type_named(number, base)
        if base_types is None:
            return False
        lineage = {ancestor for base_type in base_types.numbers for ancestor, _ in self._lookup.lineage(base_type)}
        names = {_plain_name(name) for ancestor in lineage for name in self._table.definitions[ancestor].bases}
        is_published = head(value_type(written)).rpartition(".")[2] in self._published
        return not names.isdisjoint(handlers) or (is_published and _HANDLES.search(head(base)) is not None)

    def _messages_named(self, scope: int, receiver: str, name: str) -> tuple[int, ...]:
        message_types = self._lookup.type_named(scope, f"{receiver}.{name}" if receiver else name)
        return tuple(number for number in message_types.numbers if number in self._messages) if message_types else ()

    def _add_handlers(self, number: int, scope: int, written: str) -> None:
        """The members of a type that take a message, whose type is as it is written in a scope."""
        message = self._lookup.type_named(scope, value_type(written))
        if message is None:
            return
        for member in (method for part in self._table.parts(number) for method in self._table.members_of(part)):
            definition = self._table.definitions[member]
            takes = {name for parameter in definition.parameters or () for name in _taken(parameter.type_name)}
            constructor = self._lookup.rules.constructor_name(number)
            is_method = definition.construct == "callable" and definition.name != constructor
            if is_method and head(value_type(written)) in takes:
                self._handlers[message.numbers[0]][member] = message.confidence
                if any(value_type(written) in _inside(item.type_name) for item in definition.parameters or ()):
                    given = self._given(scope, arguments(value_type(written)))
                    self._note_arguments(message.numbers[0], member, given)

    def _add_topic(self, scope: int, topic: Topic) -> None:
        """The handlers of a message named by its type: `@CommandHandler(CreateUser)`, `on(UserCreated.name, f)`."""
        written = topic.path.removesuffix(".name")
        message = self._lookup.type_named(scope, written)
        if message is None:
            return
        for number in self._uses.numbers(scope, topic.handler) if topic.handler else (scope,):
            if self._table.definitions[number].construct == "type":
                self._add_handlers(number, scope, written)
            else:
                self._handlers[message.numbers[0]][number] = message.confidence

    def _add_listener(self, number: int) -> None:
        """A callable that is marked as one that handles what it takes."""
        definition = self._table.definitions[number]
        for parameter in definition.parameters or () if definition.construct == "callable" else ():
            written = item_type(parameter.type_name) or value_type(parameter.type_name)
            message = self._lookup.type_named(number, written) if written else None
            for taken in message.numbers if message is not None else ():
                self._handlers[taken][number] = WILDCARD

    def _add_same_named(self) -> None:
        """Handlers of a message also handle messages of other services with the same name.

        For a nested type the outer type is part of the name: many features have a `Command` or `Query` of their own.
        """
        by_name: defaultdict[str, list[int]] = defaultdict(list)
        for number, definition in enumerate(self._table.definitions):
            if definition.construct == "type" and not self._is_nested(number):
                by_name[definition.name].append(number)
        for message, handlers in list(self._handlers.items()):
            definition = self._table.definitions[message]
            handled = NamedMessage("", definition.name, _base_names(definition.bases))
            same = [] if self._is_nested(message) else by_name[definition.name]
            for other in same if len(same) <= MAX_HANDLERS else ():
                named = NamedMessage("", definition.name, _base_names(self._table.definitions[other].bases))
                same_name = sameness(handled, named)
                if other != message and same_name:
                    for member, confidence in handlers.items():
                        known = self._handlers[other].get(member, 0.0)
                        self._handlers[other][member] = max(known, min(confidence, same_name))

    def _is_nested(self, number: int) -> bool:
        return self._table.enclosing_type(self._table.owner_of(number)) is not None


def _base_names(bases: Iterable[str]) -> tuple[str, ...]:
    """The plain names of base types, sorted."""
    return tuple(sorted({head(base).rpartition(".")[2] for base in bases}))


def _taken(type_name: str) -> Iterator[str]:
    """The type of a parameter, and the types in one around a message, such as `ConsumeContext<Ship>`."""
    name = head(value_type(type_name))
    yield from names_in(type_name) if _AROUND.search(name) else (name,)


def _inside(type_name: str) -> Iterator[str]:
    """The type of a parameter, and the first type argument of one around it."""
    plain = value_type(type_name)
    yield plain
    yield from arguments(plain)


def _agree(given: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """True if type arguments may be the same; an empty one may be any."""
    pairs = zip(given, other, strict=False)
    return all(left == right or not left or not right for left, right in pairs)


def _plain_name(base: str) -> str:
    """The name of a base type without its namespace, its arguments, and the I of an interface."""
    name = head(base).rpartition(".")[2]
    return name[1:] if name[:1] == "I" and name[1:2].isupper() else name


def is_sending(call: Call) -> bool:
    """True if a call's name says that it passes a message on."""
    return not call.constructs and _SENDS.match(call.name) is not None


def specialized(lookup: Lookup) -> dict[int, dict[int, float]]:
    """For each type, those that derive from a generic type with it as an argument, and their members that accept it.

    That is how configurations, validators, repositories, serializers and comparers of a type name it.
    """
    confidence_of_member: defaultdict[int, dict[int, float]] = defaultdict(dict)
    table = lookup.table
    for number, definition in enumerate(table.definitions):
        for written in (name for base in definition.bases for name in arguments(base)):
            about = lookup.type_named(number, value_type(written))
            if about is None:
                continue
            argument, *others = about.numbers
            if others or argument == number:
                continue
            confidence_of_member[argument][number] = about.confidence
            for member in table.members_of(number):
                parameters = table.definitions[member].parameters or ()
                if any(head(written) in names_in(parameter.type_name) for parameter in parameters):
                    confidence_of_member[argument][member] = about.confidence
    return {number: others for number, others in confidence_of_member.items() if len(others) <= MAX_HANDLERS}
