"""Callables kept in fields and called from there, and values handed over for parameters that are interfaces."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.tree.facts import OF_ITEMS, RETURNED, Call
from groundwire_ingest.tree.names.calls import CallResolution
from groundwire_ingest.tree.names.inheritance import Inheritance
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import INFERRED

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
        for file, facts in enumerate(self._table.files):
            run = {(call.from_key, call.receiver) for call in facts.calls if call.name == RETURNED}
            for call in facts.calls:
                scope = self._table.module_of(file) + call.scope
                is_run = (call.from_key, f"{call.receiver}.{call.name}()".lstrip(".")) in run
                paths = self._called_paths(scope, call, call.arguments if is_run else ())
                for before, name in filter(None, map(_field, paths)):
                    owners = lookup.lineages(lookup.argument(scope, before))
                    self._calling[name].append(_Use(call.from_key, owners, facts.is_test))

    def kept(self, file: int) -> Iterator[tuple[str, str, int, float]]:
        """The node that keeps a callable, the node that calls it, the line, and the confidence."""
        first = self._table.module_of(file)
        is_test = self._table.files[file].is_test
        for call in self._table.files[file].calls:
            scope = first + call.scope
            field = _field(call.receiver) if call.name.lower() in _ADDING else None
            if field is None or not any(self._is_parameter(scope, argument) for argument in call.arguments):
                continue
            owners = self._lookup.lineages(self._lookup.argument(scope, field[0]))
            uses = [use for use in self._calling.get(field[1], ()) if is_test or not use.is_test]
            for use, confidence in self._callers(owners, uses):
                yield call.from_key, use.key, call.line, confidence

    def _callers(self, owners: frozenset[int], uses: list[_Use]) -> Iterator[tuple[_Use, float]]:
        known = [use for use in uses if use.owners]
        if owners:
            found = [use for use in known if not owners.isdisjoint(use.owners)]
        else:
            found = known if len({use.owners for use in known}) == 1 else []
        if len({use.key for use in found}) <= MAX_CALLERS:
            for use in found:
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


def _field(path: str) -> tuple[str, str] | None:
    """The path before a field, and the field's name, of a path to the field or to an item of it."""
    segments = path.split(".")
    while segments and segments[-1] in _TAKING:
        segments.pop()
    if len(segments) < 2 or segments[-1].endswith("()"):
        return None
    return ".".join(segments[:-1]), segments[-1]


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
        found = self._calls.called(scope, call)
        for number in found.numbers if found is not None and len(found.numbers) == 1 else ():
            for place, interface in self._interfaces(number).items():
                argument = call.arguments[place] if place < len(call.arguments) else ""
                given = self._lookup.argument(scope, argument)
                self.bound[interface].update(one for one in given if one in self._inheritance.implementing(interface))

    def _interfaces(self, number: int) -> dict[int, int]:
        """The interfaces among the types of a callable's parameters, by the place of the parameter."""
        found: dict[int, int] = {}
        definition = self._table.definitions[number]
        for place, parameter in enumerate(definition.parameters or () if definition.construct == "callable" else ()):
            stated = self._lookup.type_named(number, parameter.type_name) if parameter.type_name else None
            for interface in stated.numbers if stated is not None else ():
                if "structural" in self._table.definitions[interface].traits:
                    found[place] = interface
        return found
