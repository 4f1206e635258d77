"""Callables kept in fields and called from there, and values handed over for parameters that are interfaces."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_index.repository_edges.confidences import INFERRED
from groundwire_ingest.tree.code_facts import OF_ITEMS, RETURNED, Call
from groundwire_ingest.tree.languages.types import head
from groundwire_ingest.tree.names.calls import CallResolution
from groundwire_ingest.tree.names.inheritance import Inheritance
from groundwire_ingest.tree.names.lookup import Lookup

BY_NAME = 0.6
"""Only the name of the field shows that it is the same."""
MAX_CALLERS = 4
"""A field whose items more members than this call leads to none of them in particular."""

_ADDING = frozenset(
    "append add insert appendleft push unshift enqueue addlast addfirst subscribe connect set __setitem__".split()
)
_TAKING = frozenset({"setdefault()", "get()", "values()", "items()", "copy()", "pop()", "computeIfAbsent()", OF_ITEMS})


@dataclass(frozen=True, slots=True)
class _Use:
    """A member that keeps or calls what is in a field of one of the types in `owners`, none where that is not known."""

    key: str
    owners: frozenset[int]
    is_test: bool


class Callbacks:
    """Finds what is kept and what is called by the names of fields, over all files of one language family."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._calling: defaultdict[str, list[_Use]] = defaultdict(list)
        set_fields = {item.target.rpartition(".")[2] for facts in self._table.files for item in facts.kept_parameters}
        for file, facts in enumerate(self._table.files):
            run = {(call.from_key, call.receiver) for call in facts.calls if call.name == RETURNED}
            for call in facts.calls:
                scope = self._table.module_of(file) + call.scope
                is_run = (call.from_key, f"{call.receiver}.{call.name}()".lstrip(".")) in run
                paths = self._called_paths(scope, call, call.arguments if is_run else ())
                for before, name in filter(None, (self._field(scope, path) for path in paths)):
                    owners = lookup.lineages(lookup.argument(scope, before))
                    self._calling[name].append(_Use(call.from_key, owners, facts.is_test))
                if not set_fields.isdisjoint((call.name, call.receiver.rpartition(".")[2])):
                    self._note_direct(scope, call, facts.is_test)

    def kept(self, file: int) -> Iterator[tuple[str, str, int, float]]:
        """The node that keeps a callable, the node that calls it, the line, and the confidence."""
        first = self._table.module_of(file)
        is_test = self._table.files[file].is_test
        for call in self._table.files[file].calls:
            scope = first + call.scope
            field = self._field(scope, call.receiver) if call.name.lower() in _ADDING else None
            if field is None or not any(self._is_parameter(scope, argument) for argument in call.arguments):
                continue
            owners = self._lookup.lineages(self._lookup.argument(scope, field[0]))
            uses = [use for use in self._calling.get(field[1], ()) if is_test or not use.is_test]
            for use, confidence in self._callers(owners, uses):
                yield call.from_key, use.key, call.line, confidence
        for item in self._table.files[file].kept_parameters:
            scope = first + item.scope
            field = self._field(scope, item.target)
            owners = self._lookup.lineages(self._lookup.argument(scope, field[0])) if field is not None else frozenset()
            uses = [use for use in self._calling.get(field[1] if field else "", ()) if is_test or not use.is_test]
            for use, confidence in self._callers(owners, uses) if owners else ():
                yield item.from_key, use.key, item.line, confidence

    def _note_direct(self, scope: int, call: Call, is_test: bool) -> None:
        """Notes a call of what a field holds: `self.one(1)`, `_one?.Invoke(1)`; not of a method of that name."""
        rules = self._lookup.rules
        plain = f"{call.receiver}.{call.name}" if call.receiver else call.name
        is_invoked = call.name.lower() == "invoke"
        for path in (plain, call.receiver) if call.name in rules.invoking else (plain,):
            field = self._field(scope, path)
            owners = self._lookup.lineages(self._lookup.argument(scope, field[0])) if field is not None else frozenset()
            if (
                field is None
                or not owners
                or not self._may_hold_callable(owners, field[1], path == plain or is_invoked)
            ):
                continue
            self._calling[field[1]].append(_Use(call.from_key, owners, is_test))

    def _may_hold_callable(self, owners: frozenset[int], name: str, is_called: bool) -> bool:
        """True if a field of the types is called itself, or by a method that its stated type has for that."""
        members = (member for owner in owners for member in self._table.members(owner, name))
        if any(self._table.definitions[member].construct == "callable" for member in members):
            return False
        fields = [field for owner in owners if (field := self._lookup.field(owner, name)) is not None]
        types = self._lookup.rules.callable_types
        has_type = any(head(field[1].type_name).rpartition(".")[2] in types for field in fields)
        return is_called or not types or has_type

    def _field(self, scope: int, path: str) -> tuple[str, str] | None:
        """The path before a field and its name, also of a field that is named without the value before it."""
        segments = path.split(".")
        while segments and segments[-1] in _TAKING:
            segments.pop()
        if not segments or segments[-1].endswith("()"):
            return None
        if len(segments) > 1:
            return ".".join(segments[:-1]), segments[-1]
        rules = self._lookup.rules
        variable = self._lookup.variable(scope, segments[0]) if rules.implicit_members else None
        is_field = variable is not None and self._table.is_type(variable[0])
        return (min(rules.self_names), segments[0]) if is_field else None

    def _callers(self, owners: frozenset[int], uses: list[_Use]) -> Iterator[tuple[_Use, float]]:
        known = [use for use in uses if use.owners]
        if owners:
            chosen_uses = [use for use in known if not owners.isdisjoint(use.owners)]
        else:
            chosen_uses = known if len({use.owners for use in known}) == 1 else []
        if len({use.key for use in chosen_uses}) <= MAX_CALLERS:
            for use in chosen_uses:
                yield use, INFERRED if owners else BY_NAME

    def _called_paths(self, scope: int, call: Call, wrapped: tuple[str, ...]) -> Iterator[str]:
        """The paths of the item or variable that is called, and of those that are called as something `wrapped`."""
        if call.name == OF_ITEMS:
            yield f"{call.receiver}.{OF_ITEMS}"
        for name in (*(() if call.receiver else (call.name,)), *wrapped):
            variable = self._lookup.local_variable(scope, name) if name.isidentifier() else None
            if variable is not None and variable[1].value:
                yield variable[1].value

    def _is_parameter(self, scope: int, name: str) -> bool:
        variable = self._lookup.local_variable(scope, name) if name.isidentifier() else None
        parameters = self._table.definitions[variable[0]].parameters if variable is not None else None
        return any(parameter.name == name for parameter in parameters or ())


class HandedOver:
    """The types with values that are passed as interfaces that types satisfy without naming them, `bound` to these."""

    def __init__(self, lookup: Lookup, calls: CallResolution, inheritance: Inheritance) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._calls = calls
        self._inheritance = inheritance
        self.bound: defaultdict[int, set[int]] = defaultdict(set)
        takes = {number for number in range(len(self._table.definitions)) if self._interfaces(number)}
        names = {self._table.definitions[number].name for number in takes}
        for file, facts in enumerate(self._table.files):
            for call in facts.calls if not facts.is_test else ():
                if call.name in names and any(call.arguments):
                    self._add(self._table.module_of(file) + call.scope, call)

    def _add(self, scope: int, call: Call) -> None:
        called = self._calls.called(scope, call)
        for number in called.numbers if called is not None and len(called.numbers) == 1 else ():
            for place, interface in self._interfaces(number).items():
                argument = call.arguments[place] if place < len(call.arguments) else ""
                given = self._lookup.argument(scope, argument)
                self.bound[interface].update(
                    handed for handed in given if handed in self._inheritance.implementing(interface)
                )

    def _interfaces(self, number: int) -> dict[int, int]:
        """The interfaces among the types of a callable's parameters, by the place of the parameter."""
        interface_of_place: dict[int, int] = {}
        definition = self._table.definitions[number]
        for place, parameter in enumerate(definition.parameters or () if definition.construct == "callable" else ()):
            stated = self._lookup.type_named(number, parameter.type_name) if parameter.type_name else None
            for interface in stated.numbers if stated is not None else ():
                if "structural" in self._table.definitions[interface].traits:
                    interface_of_place[place] = interface
        return interface_of_place
