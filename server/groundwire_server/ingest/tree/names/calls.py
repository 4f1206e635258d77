"""What a call site calls."""

from groundwire_server.ingest.tree.facts import Call
from groundwire_server.ingest.tree.names.lookup import Lookup
from groundwire_server.ingest.tree.names.rules import GUESSED, NameRules
from groundwire_server.ingest.tree.names.table import Found

MAX_FAN_OUT = 3
"""A call that could be to more definitions than this is taken to be to none of them."""

MAX_SAME_NAMED = 64
"""A method name that more definitions than this carry is never guessed."""


class CallResolution:
    """Resolves the call sites of one language family."""

    def __init__(self, rules: NameRules, lookup: Lookup) -> None:
        self._rules = rules
        self._lookup = lookup
        self._table = rules.table
        self._methods: dict[str, list[int]] = {}
        for number, definition in enumerate(self._table.definitions):
            owner = self._table.owner_of(number)
            if definition.construct == "callable" and owner >= 0 and self._table.is_type(owner):
                self._methods.setdefault(definition.name, []).append(number)

    def called(self, scope: int, call: Call) -> Found | None:
        """The definitions that a call in definition `scope` is to, MAX_FAN_OUT at most; None when that is not known."""
        found = self._named(scope, call)
        return self._narrowed(scope, found, call) if found else None

    def _named(self, scope: int, call: Call) -> Found | None:
        lookup = self._lookup
        if call.constructs:
            return lookup.dotted(scope, [*filter(None, call.receiver.split(".")), call.name])
        if not call.receiver:
            return lookup.unqualified(scope, call.name)
        if call.receiver in self._rules.super_names:
            around = self._table.enclosing_type(scope)
            return None if around is None else lookup.of_type(around, call.name, inherited=True)
        receiver = lookup.receiver(scope, call.receiver)
        if receiver is not None:
            return lookup.step(receiver, call.name)
        return self._guess(scope, call.name) if self._may_guess(scope, call.receiver) else None

    def _may_guess(self, scope: int, receiver: str) -> bool:
        """Whether a receiver of unknown type may be one of the tree's: not where the source says where it is from."""
        first = receiver.partition(".")[0]
        if first == "?":
            return True
        if self._rules.import_of(self._table.file_of(scope), first.removesuffix("()")) is not None:
            return False
        variable = self._lookup.variable(scope, first)
        if variable is not None:
            number, binding = variable
            return not binding.stated and self._lookup.dotted(number, binding.type_name.split(".")) is not None
        return not (self._rules.implicit_members and first[:1].isupper())

    def _guess(self, scope: int, name: str) -> Found | None:
        """The method of that name when a single type that the file sees has it."""
        candidates = self._methods.get(name, [])
        if name in self._rules.common_methods or name.startswith("__") or len(candidates) > MAX_SAME_NAMED:
            return None
        file = self._table.file_of(scope)
        seen = tuple(number for number in candidates if self._rules.sees(file, number))
        return Found(seen, GUESSED) if len({self._table.owner_of(number) for number in seen}) == 1 else None

    def _narrowed(self, scope: int, found: Found, call: Call) -> Found | None:
        """The nearest of the definitions found, by the number of arguments where that tells overloads apart."""
        entered = dict.fromkeys(number for ref in found.numbers for number in self._entered(ref))
        numbers = self._table.nearest(self._table.file_of(scope), tuple(entered))
        if len(numbers) > 1:
            counts = {number: self._table.definitions[number].parameter_count for number in numbers}
            fitting = tuple(number for number in numbers if counts[number] == call.argument_count)
            numbers = fitting or numbers
        if not 0 < len(numbers) <= MAX_FAN_OUT:
            return None
        return Found(numbers, found.confidence if len(numbers) == 1 else min(found.confidence, GUESSED))

    def _entered(self, number: int) -> tuple[int, ...]:
        """Where control goes when a definition is called: a type's own constructors, a module's default export."""
        construct = self._table.definitions[number].construct
        if construct == "module":
            default = self._rules.member(number, "default")
            return tuple(ref for ref in default.numbers if ref != number) if default else ()
        constructors = self._table.members(number, self._rules.constructor_name(number)) if construct == "type" else ()
        return constructors or (number,)
