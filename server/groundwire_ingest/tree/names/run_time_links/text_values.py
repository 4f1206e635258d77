"""What the variables, fields and properties of code hold, for strings that are built with their values."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.languages.types import arguments, head
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.text_facts import NAME_OF_TYPE, PassedTexts, Text, TextPart, TextValue

UNKNOWN_VALUE = "{}"
"""Stands for an inserted value that the tree does not say."""

_MAX_STEPS = 12
_MAX_INSERTED = 200
"""How many values are inserted into one string, those that are inserted into these included."""
_MAX_CHARACTERS = 20_000
_MAX_PASSED = 50
"""Of a class whose constructors are called in more places, a parameter is not known."""
_BEFORE_TYPE, _AFTER_TYPE = NAME_OF_TYPE.split("{}")
_NAME_OF_OBJECT = frozenset({"GetType().Name", "this.GetType().Name"})


class Held(NamedTuple):
    """A string that a variable holds, and the definition in which its inserted paths are written."""

    scope: int
    text: Text


class ReadValue(NamedTuple):
    """What a variable holds where it is read, for an object of class `around`."""

    held: Held
    around: int | None


class TextValues:
    """Answers for one table. A scope is the number of a definition, `around` the class that an object is of."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._stated: dict[tuple[int, str], Held | None] = {}
        self._assigned: dict[tuple[int, str], Held | None] = {}
        self._defaults: dict[tuple[int, str], Held | None] = {}
        self._passed: defaultdict[int, list[tuple[int, PassedTexts]]] = defaultdict(list)
        # What a file says outside of types and callables, by folder, for languages whose files share that.
        self._packages: dict[tuple[str, str], list[Held]] = {}
        self._steps = 0
        self._inserted_count = 0
        for file, facts in enumerate(self._table.files):
            first = self._table.module_of(file)
            for value in facts.text_values:
                self._keep(first + value.scope, value)
            for passed in facts.passed_texts:
                around = self._table.enclosing_type(first + passed.scope)
                if around is not None:
                    self._passed[self._table.parts(around)[0]].append((first + passed.scope, passed))
        self.names = {name for _, name in (*self._stated, *self._assigned)}

    def _keep(self, scope: int, value: TextValue) -> None:
        receiver, _, name = value.name.removeprefix("this.").rpartition(".")
        if value.is_default:
            self._defaults[scope, name] = Held(scope, value.text)
            return
        if receiver:
            for number in self._types_at(scope, receiver):
                self._note(self._assigned, number, name, Held(scope, value.text))
            return
        owner = scope
        is_of_type = name != value.name or self._lookup.local_variable(scope, name) is None
        if value.is_assigned and is_of_type and (around := self._table.enclosing_type(scope)) is not None:
            owner = self._table.parts(around)[0]
        elif self._table.is_type(scope):
            owner = self._table.parts(scope)[0]
        self._note(self._assigned if value.is_assigned else self._stated, owner, name, Held(scope, value.text))
        if self._table.definitions[owner].construct == "module":
            package = folder_of(self._table.path_of(owner))
            self._packages.setdefault((package, name), []).append(Held(scope, value.text))

    def _note(self, held: dict[tuple[int, str], Held | None], owner: int, name: str, value: Held) -> None:
        """Keeps what a name is set to; what is set to several strings has none that is sure."""
        known = held.get((owner, name), value)
        is_same = known is not None and bool(value.text) and known.text == value.text
        held[owner, name] = value if is_same else None

    def _types_at(self, scope: int, receiver: str) -> tuple[int, ...]:
        """The only type that a variable is of, or that a name means."""
        if self._lookup.variable(scope, receiver.partition(".")[0]) is None:
            resolved = self._lookup.type_named(scope, receiver)
            numbers = resolved.numbers if resolved is not None else ()
        else:
            value = self._lookup.value(scope, receiver)
            numbers = value.resolved.numbers if value is not None and not value.is_itself else ()
        types = tuple(dict.fromkeys(self._table.parts(number)[0] for number in numbers))
        return types if len(types) == 1 else ()

    def said(self, scope: int, text: Text, around: int | None) -> str:
        """A string in a definition, of an object of class `around`."""
        if not self._steps:
            self._inserted_count = 0
        pieces: list[str] = []
        left = _MAX_CHARACTERS
        for part in text:
            piece = part.text if not part.is_inserted else self._inserted(scope, part, around)
            pieces.append(piece[:left])
            left -= len(pieces[-1])
            if not left:
                break
        return "".join(pieces)

    def _inserted(self, scope: int, part: TextPart, around: int | None) -> str:
        self._inserted_count += 1
        is_known = bool(part.text) and self._inserted_count <= _MAX_INSERTED
        value = self._value(scope, part.text, around) if is_known else None
        return UNKNOWN_VALUE if value is None else value

    def _value(self, scope: int, path: str, around: int | None) -> str | None:
        """The string that an expression is; UNKNOWN_VALUE in it for what is not known, None where nothing is."""
        if self._steps >= _MAX_STEPS:
            return None
        self._steps += 1
        value = self._value_of(scope, path, around)
        self._steps -= 1
        return value

    def _value_of(self, scope: int, path: str, around: int | None) -> str | None:
        if path.startswith(_BEFORE_TYPE) and path.endswith(_AFTER_TYPE):
            return self._type_argument(scope, path.removeprefix(_BEFORE_TYPE).removesuffix(_AFTER_TYPE), around)
        if path in _NAME_OF_OBJECT:
            return self._table.definitions[around].name if around is not None else None
        read = self.read(scope, path, around)
        if read is not None:
            said = self.said(*read.held, read.around)
            return said if said != UNKNOWN_VALUE else None
        taking = self._callable_with(scope, path)
        return self._argument(taking, path, around) if taking is not None else None

    def read(self, scope: int, path: str, around: int | None) -> ReadValue | None:
        """What a variable, field, property or constant holds, for an object of class `around`."""
        owner, _, name = path.removeprefix("this.").removeprefix("base.").rpartition(".")
        if name not in self.names:
            return None
        if owner:
            return self._read_at(scope, owner, name, around)
        number = scope
        while number >= 0 and not self._table.is_type(number):
            if (number, name) in self._stated or (number, name) in self._assigned:
                held = self._local(number, name)
                return ReadValue(held, around) if held is not None else None
            if self._takes(number, name):
                return None
            number = self._table.parent_of(number)
        held = self._field(around, name, around) if around is not None else None
        if held is not None:
            return ReadValue(held, around)
        if self._lookup.rules.shares_packages:
            shared = self._packages.get((folder_of(self._table.path_of(scope)), name), [])
            return ReadValue(shared[0], None) if len(shared) == 1 else None
        outer = self._table.enclosing_type(number) if number >= 0 else None
        while outer is not None:
            held = self._field(outer, name, outer)
            if held is not None:
                return ReadValue(held, outer)
            parent = self._table.parent_of(outer)
            outer = self._table.enclosing_type(parent) if parent >= 0 else None
        return None

    def _read_at(self, scope: int, receiver: str, name: str, around: int | None) -> ReadValue | None:
        """What a field holds of a type, or of the object that a variable is."""
        for number in self._types_at(scope, receiver):
            # In a method of Go the object has a name.
            is_own = around is not None and number == self._own(scope)
            of_class = around if is_own and around is not None else number
            held = self._field(of_class, name, of_class)
            return ReadValue(held, of_class) if held is not None else None
        return None

    def _own(self, scope: int) -> int:
        """The type around a scope by its first part; -1 where there is none."""
        around = self._table.enclosing_type(scope)
        return self._table.parts(around)[0] if around is not None else -1

    def _local(self, number: int, name: str) -> Held | None:
        """What a variable of a callable holds; None if it is set again."""
        if (number, name) in self._stated:
            return self._stated[number, name] if (number, name) not in self._assigned else None
        return self._assigned[number, name]

    def _field(self, number: int, name: str, around: int | None) -> Held | None:
        """What a field or property of a class holds: what a constructor sets it to, else what it starts with."""
        for base, _ in self._lookup.lineage(number):
            owner = self._table.parts(base)[0], name
            if owner in self._assigned:
                assigned = self._assigned[owner]
                # A parameter that is not given leaves what is there.
                is_left = assigned is not None and owner in self._stated and self._is_left_out(assigned, around)
                if not is_left:
                    return assigned
            if owner in self._stated:
                return self._stated[owner]
        return None

    def _takes(self, number: int, name: str) -> bool:
        return any(item.name == name for item in self._table.definitions[number].parameters or ())

    def _callable_with(self, scope: int, name: str) -> int | None:
        """The callable around a scope, or the type with a primary constructor, that has a parameter of a name."""
        number = scope
        while number >= 0:
            if self._takes(number, name):
                return number
            number = self._table.parent_of(number)
        return None

    def _argument(self, number: int, name: str, around: int | None) -> str | None:
        """The string that the constructors of an object of class `around` give to a parameter of one of them."""
        given = self._given(number, name, around)
        values = {self.said(scope, text, around) if text else UNKNOWN_VALUE for scope, text in given}
        return next(iter(values)) if len(values) == 1 else None

    def _is_left_out(self, held: Held, around: int | None) -> bool:
        """True for a parameter that the constructors of `around` leave to its default, which is no string."""
        name = held.text[0].text if len(held.text) == 1 and held.text[0].is_inserted else ""
        return self._takes(held.scope, name) and not self._given(held.scope, name, around)

    def _given(self, number: int, name: str, around: int | None) -> list[tuple[int, Text]]:
        """What is given to a parameter of a constructor, with the scope in which that is written."""
        owner = number if self._table.is_type(number) else self._table.owner_of(number)
        if owner < 0 or around is None:
            return []
        owner = self._table.parts(owner)[0]
        is_constructor = self._table.is_type(number) or (
            self._table.definitions[number].name == self._lookup.rules.constructor_name(owner)
        )
        if not is_constructor:
            return [(number, ())]
        deriving = [
            base
            for base, _ in self._lookup.lineage(around)
            if any(
                owner in self._table.parts(part_number)
                for base_type in self._lookup.bases(base)
                for part_number in base_type.numbers
            )
        ]
        passed = [item for base in deriving for item in self._passed.get(base, ()) if not item[1].is_own]
        passed += [item for item in self._passed.get(owner, ()) if item[1].is_own and item[0] != number]
        if len(passed) > _MAX_PASSED:
            return [(number, ())]
        given: list[tuple[int, Text]] = []
        for scope, item in passed:
            position = self._position(number, name, item)
            if position is not None:
                given.append((scope, item.texts[position]))
        default = self._defaults.get((number, name))
        return given or ([(default.scope, default.text)] if default is not None else [])

    def _position(self, number: int, name: str, passed: PassedTexts) -> int | None:
        """The argument that is given to a parameter; None for none, or if the constructor does not fit."""
        taken = self._table.definitions[number].parameters or ()
        parameters = [item.name for item in taken]
        if not sum(not item.is_optional for item in taken) <= len(passed.texts) <= len(taken):
            return None
        if name in passed.names:
            return passed.names.index(name)
        position = parameters.index(name)
        return position if position < len(passed.texts) and not passed.names[position] else None

    def _type_argument(self, scope: int, type_name: str, around: int | None) -> str | None:
        """The name of a type; of a type parameter of a base class the name of what `around` gives for it."""
        owner = self._table.enclosing_type(scope)
        for _ in range(_MAX_STEPS):
            parameters = self._table.definitions[owner].type_parameters if owner is not None else ()
            if type_name not in parameters:
                return head(type_name).rpartition(".")[2]
            given = self._given_type(owner, parameters.index(type_name), around) if owner is not None else None
            if given is None:
                return None
            owner, type_name = given
        return None

    def _given_type(self, owner: int, position: int, around: int | None) -> tuple[int, str] | None:
        """The type argument that a class between `around` and a base class gives to that, and this class."""
        owners = self._table.parts(owner)
        for number, _ in self._lookup.lineage(around) if around is not None else ():
            for part in self._table.parts(number):
                for base in self._table.definitions[part].bases:
                    base_type = self._lookup.type_named(part, base) if "<" in base else None
                    given: Sequence[str] = arguments(base)
                    if base_type is not None and set(base_type.numbers) & set(owners) and position < len(given):
                        return part, given[position]
        return None
