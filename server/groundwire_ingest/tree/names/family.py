"""The edges of one language family, file by file."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from groundwire_index.repository_edges.confidences import EXACT, GUESSED, MAX_FAN_OUT, WILDCARD
from groundwire_index.repository_edges.full_names import OVERRIDES, RPC, FullNames, NameUse, OfferedName
from groundwire_index.repository_edges.messages import MessageHandler, MessageUse
from groundwire_index.repository_edges.requests import Served
from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.code_facts import Call
from groundwire_ingest.tree.file_analysis import EntityMapping, FileEdges
from groundwire_ingest.tree.languages.types import collected_type
from groundwire_ingest.tree.names.calls import CallResolution, Uses
from groundwire_ingest.tree.names.conventions import FrameworkNames
from groundwire_ingest.tree.names.declared import Tested, declared_edges
from groundwire_ingest.tree.names.inheritance import MAX_IMPLEMENTATIONS, Inheritance
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.outside import OutsideNames
from groundwire_ingest.tree.names.rules import NameRules
from groundwire_ingest.tree.names.run_time_links.callbacks import Callbacks, HandedOver
from groundwire_ingest.tree.names.run_time_links.field_functions import FieldFunctions
from groundwire_ingest.tree.names.run_time_links.routes import Routes
from groundwire_ingest.tree.names.run_time_links.texts import ResolvedText, Texts
from groundwire_ingest.tree.names.run_time_links.topics import Signals, Topics
from groundwire_ingest.tree.names.run_time_links.wiring import Messages, Registrations, is_sending, specialized
from groundwire_ingest.tree.names.table import NOTHING


class ImplementedMember(NamedTuple):
    """A member that another implements or overrides: its name with that of its type, and the key of its node."""

    name: str
    key: str


class FamilyEdges:
    """Resolves what the files of a table say of each other."""

    def __init__(self, rules: NameRules, frameworks: FrameworkNames) -> None:
        self._rules = rules
        self._family = type(rules).__name__
        self._messages_used: dict[MessageUse, None] = {}
        self._table = rules.table
        self._lookup = Lookup(rules, frameworks)
        self._calls = CallResolution(rules, self._lookup)
        self._uses = Uses(self._lookup)
        self._inheritance = Inheritance(self._lookup)
        self._registrations = Registrations(self._lookup, self._uses)
        # The types registered for each interface, and those that are handed over as it where none is.
        handed_over = HandedOver(self._lookup, self._calls, self._inheritance)
        self._bound = {**handed_over.bound, **self._registrations.bound}
        self._messages = Messages(self._lookup, self._uses)
        self._topics = Topics(self._lookup, self._uses)
        self._callbacks = Callbacks(self._lookup)
        self._field_functions = FieldFunctions(self._lookup, self._uses)
        self._signals = Signals(self._lookup, self._uses)
        self._tested = Tested(self._table)
        self._specialized = specialized(self._lookup)
        self._outside = OutsideNames(rules, self._lookup, self._inheritance)
        self._routes = Routes(self._lookup, self._uses)
        self._served = [list(self._routes.served(file)) for file in range(len(self._table.files))]

    @property
    def lookup(self) -> Lookup:
        """The answers about the names of the table."""
        return self._lookup

    @property
    def served(self) -> Iterator[Served]:
        """The URLs that the files answer."""
        return (item for served in self._served for item in served)

    def edges(self) -> Iterator[SourceEdge | EntityMapping]:
        """The edges of each file, the tables it maps, and members adopted from other files."""
        for file, facts in enumerate(self._table.files):
            edges = FileEdges(facts.path)
            self._add_imports(file, edges)
            used = self._add_bases(file, edges) | self._add_calls(file, edges) | self._add_references(file, edges)
            used |= self._variable_types(file)
            self._add_passed(file, edges)
            self._add_wiring(file, edges)
            self._add_namespace_imports(file, used, edges)
            self._add_members(file, edges)
            for from_key, to_key, line, confidence in self._callbacks.kept(file):
                edges.note(from_key, to_key, "RunBy", line, confidence)
            for served in self._served[file]:
                for from_key in filter(None, (served.from_key, served.router_key)):
                    edges.note(from_key, served.handler_key, "Routes", served.line, served.confidence)
            yield from edges.sorted()
            yield from self._mappings(file)
        yield from declared_edges(self._rules)

    def handlers(self) -> Iterator[MessageHandler]:
        """The handlers of messages, for other trees that send these."""
        yield from self._messages.offered(self._family)
        yield from self._topics.offered(self._family)

    def messages(self) -> Iterator[MessageUse]:
        """The messages that the files send and declare, after `edges`, for other trees that handle them."""
        yield from self._messages_used
        yield from self._topics.wanted(self._family)

    def offered_names(self) -> Iterator[OfferedName]:
        """The names that other trees may use."""
        return self._outside.offered()

    def name_uses(self, rpcs: Mapping[str, OfferedName]) -> Iterator[NameUse]:
        """What the files use that may be of other trees, and the members that implement methods of .proto files.

        `rpcs` has these by their nodes.
        """
        for file in range(len(self._table.files)):
            yield from self._outside.uses(file)
        for number, definition in enumerate(self._table.definitions) if rpcs else ():
            for base, confidence in self._inheritance.overridden(number).items():
                rpc = rpcs.get(self._key(base))
                if rpc is not None and definition.key != rpc.key and not self._table.is_test(number):
                    # Who does not see the tree's own copy does not see what it says of the member.
                    yield NameUse(
                        RPC,
                        FullNames.of(rpc.name),
                        definition.key,
                        OVERRIDES,
                        definition.line,
                        confidence,
                        file_key=rpc.key,
                    )

    def texts(self) -> Iterator[ResolvedText]:
        """The strings that the code builds, with the values of what is inserted into them."""
        texts = Texts(self._lookup, self._inheritance)
        for file in range(len(self._table.files)):
            yield from texts.resolved(file)

    def implemented(self) -> Iterator[tuple[str, tuple[ImplementedMember, ...]]]:
        """The key of each member that implements or overrides others, and these."""
        members_of_key: defaultdict[str, set[ImplementedMember]] = defaultdict(set)
        for number in range(len(self._table.definitions)):
            for base in self._inheritance.overridden(number):
                if self._key(number) != self._key(base):
                    owner = self._table.definitions[self._table.owner_of(base)]
                    name = f"{owner.name}.{self._table.definitions[base].name}"
                    members_of_key[self._key(number)].add(ImplementedMember(name, self._key(base)))
        for key in sorted(members_of_key):
            yield key, tuple(sorted(members_of_key[key]))

    def _add_imports(self, file: int, edges: FileEdges) -> None:
        for item, imported in self._rules.imported(file):
            for number in imported.numbers:
                edges.note(
                    self._file_key(file), self._key_of_file_with(number), "Imports", item.line, imported.confidence
                )

    def _add_bases(self, file: int, edges: FileEdges) -> set[int]:
        """Adds the Inherits edges and returns the types that they lead to."""
        used: set[int] = set()
        first = self._table.module_of(file)
        for number, definition in enumerate(self._table.files[file].definitions, first):
            for name in definition.bases:
                bases = self._lookup.type_named(number, name) or NOTHING
                for base in bases.numbers:
                    edges.note(definition.key, self._key(base), "Inherits", definition.line, bases.confidence)
                    used.add(base)
        return used

    def _add_calls(self, file: int, edges: FileEdges) -> set[int]:
        """Adds the Calls edges, and those that follow from calls, and returns what they lead to."""
        used: set[int] = set()
        first = self._table.module_of(file)
        calls = self._table.files[file].calls
        sending = {call.from_key for call in calls if is_sending(call)}
        for call in calls:
            scope = first + call.scope
            called = self._calls.called(scope, call) or NOTHING
            for number in called.numbers:
                edges.note(call.from_key, self._key(number), "Calls", call.line, called.confidence)
                used.add(number)
                made = self._calls.made(call, number)
                if made is not None:
                    edges.note(call.from_key, self._key(made), "References", call.line, called.confidence)
                for other, confidence in self._inheritance.dispatched(scope, call, number, self._bound):
                    at_most = min(called.confidence, confidence)
                    edges.note(call.from_key, self._key(other), "Calls", call.line, at_most)
            for number, confidence in self._field_functions.called(scope, call):
                edges.note(call.from_key, self._key(number), "Calls", call.line, confidence)
            self._add_sent(scope, call, call.from_key in sending, edges)
            for listener, confidence in self._signals.sent(scope, call):
                edges.note(call.from_key, self._key(listener), "Sends", call.line, confidence)
            pair = self._registrations.pair(scope, call)
            if pair is not None:
                edges.note(call.from_key, self._key(pair[1]), "Registers", call.line, WILDCARD)
        return used

    def _add_sent(self, scope: int, call: Call, sends_beside: bool, edges: FileEdges) -> None:
        """Adds the Sends edges of a call, and notes the messages for other trees."""
        for (number, given), confidence in self._messages.sent(scope, call, sends_beside=sends_beside):
            for handler, handled in self._messages.handlers(number, given).items():
                edges.note(call.from_key, self._key(handler), "Sends", call.line, min(confidence, handled))
            if not any(given):
                self._note_message(number, call.from_key, "Sends", call.line, confidence)

    def _add_passed(self, file: int, edges: FileEdges) -> None:
        """Adds the edges to constants and variables that paths go through: `ErrClosed` of `ErrClosed.Error()`."""
        first, facts = self._table.module_of(file), self._table.files[file]
        calls = ((call.from_key, call.scope, call.receiver, call.line) for call in facts.calls)
        read = (
            (reference.from_key, reference.scope, reference.name.rpartition(".")[0], reference.line)
            for reference in facts.references
            if reference.role == "value"
        )
        for from_key, scope, path, line in (*calls, *read):
            for number, confidence in self._uses.passed(first + scope, path):
                edges.note(from_key, self._key(number), "References", line, confidence)

    def _add_references(self, file: int, edges: FileEdges) -> set[int]:
        """Adds the edges for names that are used without being called, and returns what they lead to."""
        used: set[int] = set()
        first = self._table.module_of(file)
        for reference in self._table.files[file].references:
            for edge_type, number, confidence in self._uses.of(first + reference.scope, reference):
                edges.note(reference.from_key, self._key(number), edge_type, reference.line, confidence)
                used.add(number)
            settings = self._lookup.frameworks.settings(file, reference.name)
            for number in settings:
                confidence = WILDCARD if len(settings) == 1 else GUESSED
                edges.note(reference.from_key, self._key(number), "ReadsSetting", reference.line, confidence)
        return used

    def _add_wiring(self, file: int, edges: FileEdges) -> None:
        """Adds what containers hand out and to whom, and from senders of messages with a name to their handlers."""
        first, facts = self._table.module_of(file), self._table.files[file]
        for item in facts.registrations:
            given = self._registrations.given(first + item.scope, item)
            edge_type = "Injects" if item.asks else "Registers"
            for number in given if len(given) <= MAX_FAN_OUT else ():
                confidence = WILDCARD if len(given) == 1 else GUESSED
                edges.note(item.from_key, self._key(number), edge_type, item.line, confidence)
        for topic in facts.topics:
            for number, confidence in self._topics.handlers(first + topic.scope, topic):
                edges.note(topic.from_key, self._key(number), "Sends", topic.line, confidence)

    def _variable_types(self, file: int) -> set[int]:
        first = self._table.module_of(file)
        bindings = (binding for binding in self._table.files[file].bindings if binding.type_name)
        types = (self._lookup.type_named(first + binding.scope, binding.type_name) for binding in bindings)
        return {number for type_named in types if type_named for number in type_named.numbers}

    def _add_namespace_imports(self, file: int, used: set[int], edges: FileEdges) -> None:
        for number in sorted(used):
            item = self._rules.namespace_import(file, number)
            if item is not None:
                edges.note(self._file_key(file), self._key_of_file_with(number), "Imports", item.line, WILDCARD)

    def _add_members(self, file: int, edges: FileEdges) -> None:
        """Adds edges between the types and members of a file and their implementations and handlers."""
        first = self._table.module_of(file)
        for number, definition in enumerate(self._table.files[file].definitions, first):
            self._add_family(number, edges)
            line = definition.line
            for other in sorted(self._bound.get(number, ())):
                edges.note(definition.key, self._key(other), "BoundTo", line, WILDCARD)
            for handler, confidence in (*self._messages.handlers(number).items(), *self._signals.handlers(number)):
                edges.note(definition.key, self._key(handler), "HandledBy", line, confidence)
            self._note_message(number, definition.key, "HandledBy", line, EXACT)
            for other, confidence in self._specialized.get(number, {}).items():
                edges.note(definition.key, self._key(other), "SpecializedBy", line, confidence)
            for other, confidence in self._tested.by(number):
                edges.note(definition.key, self._key(other), "Tests", line, confidence)
            self._add_injected(number, edges)
            # The callables whose results a framework gives to the parameters.
            parameters = definition.parameters or ()
            given = (self._lookup.frameworks.given(number, parameter.name) for parameter in parameters)
            for other in (source for source in given if source is not None):
                edges.note(definition.key, self._key(other), "References", line, WILDCARD)

    def _add_family(self, number: int, edges: FileEdges) -> None:
        """Adds what a type or member overrides or implements, and what overrides or implements it."""
        definition = self._table.definitions[number]
        line = definition.line
        for base, confidence in self._inheritance.overridden(number).items():
            edge_type = "Implements" if self._inheritance.is_abstract(base) else "Overrides"
            edges.note(definition.key, self._key(base), edge_type, line, confidence)
        for interface, confidence in self._inheritance.satisfied(number).items():
            edges.note(definition.key, self._key(interface), "Implements", line, confidence)
        is_abstract = self._inheritance.is_abstract(number)
        implementing = self._inheritance.implementing(number) if definition.construct == "type" and is_abstract else {}
        for other, confidence in (*self._inheritance.overriding(number).items(), *implementing.items()):
            edge_type = "ImplementedBy" if is_abstract else "OverriddenBy"
            edges.note(definition.key, self._key(other), edge_type, line, confidence)

    def _add_injected(self, number: int, edges: FileEdges) -> None:
        """Adds what is handed to a constructor whose parameters are of types that others are registered for."""
        definition = self._table.definitions[number]
        owner = self._table.owner_of(number)
        is_constructor = owner >= 0 and definition.name == self._rules.constructor_name(owner)
        if definition.construct != "type" and not is_constructor:
            return
        for parameter in definition.parameters or ():
            of_all = collected_type(parameter.type_name)
            interfaces = self._lookup.type_named(number, of_all or parameter.type_name) or NOTHING
            for interface in interfaces.numbers:
                bound = self._bound.get(interface, ())
                for other in sorted(bound) if len(bound) <= MAX_IMPLEMENTATIONS else ():
                    confidence = WILDCARD if len(bound) == 1 or of_all else GUESSED
                    edges.note(definition.key, self._key(other), "Injects", definition.line, confidence)

    def _note_message(self, number: int, key: str, edge_type: str, line: int, confidence: float) -> None:
        message = self._messages.named(self._family, number)
        if message is not None:
            self._messages_used[MessageUse(message, key, edge_type, line, confidence)] = None

    def _mappings(self, file: int) -> Iterator[EntityMapping]:
        """The nodes that state a mapping, and the entity types that they state it of."""
        first = self._table.module_of(file)
        confidence_of_place: dict[tuple[str, str], float] = {}
        for mapping in self._table.files[file].mappings:
            entity = self._lookup.type_named(first + mapping.scope, mapping.entity) if mapping.entity else None
            for key in (mapping.from_key, *map(self._key, entity.numbers if entity else ())):
                place = (key, mapping.table)
                confidence_of_place[place] = max(confidence_of_place.get(place, 0.0), mapping.confidence)
        for (key, table), confidence in sorted(confidence_of_place.items()):
            yield EntityMapping(key, table, confidence)

    def _key(self, number: int) -> str:
        return self._table.definitions[number].key

    def _file_key(self, file: int) -> str:
        return self._key(self._table.module_of(file))

    def _key_of_file_with(self, number: int) -> str:
        return self._file_key(self._table.file_of(number))
