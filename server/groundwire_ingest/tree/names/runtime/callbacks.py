"""Callables that one member of a type keeps in a field, and another member takes out of it and calls."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.tree.facts import OF_ITEMS, RETURNED, Call
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.rules import INFERRED

BY_NAME = 0.6
"""Only the name of the field tells that it is the same."""
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
                for path in self._called_paths(scope, call, call.arguments if is_run else ()):
                    self._note_called(scope, call, path)

    def kept(self, file: int) -> Iterator[tuple[str, str, int, float]]:
        """The node that keeps a callable, the node that calls it, the line, and the confidence."""
        first = self._table.module_of(file)
        is_test = self._table.files[file].is_test
        for call in self._table.files[file].calls:
            scope = first + call.scope
            field = _field(call.receiver) if call.name.lower() in _ADDING else None
            if field is None or not any(self._is_parameter(scope, argument) for argument in call.arguments):
                continue
            owners = self._owners(scope, field[0])
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

    def _note_called(self, scope: int, call: Call, path: str) -> None:
        field = _field(path)
        if field is not None:
            is_test = self._table.files[self._table.file_of(scope)].is_test
            self._calling[field[1]].append(_Use(call.from_key, self._owners(scope, field[0]), is_test))

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

    def _owners(self, scope: int, path: str) -> frozenset[int]:
        """The types whose field is meant, base types included."""
        value = self._lookup.value(scope, path)
        return frozenset(
            base for number in (value.found.numbers if value else ()) for base, _ in self._lookup.lineage(number)
        )


def _field(path: str) -> tuple[str, str] | None:
    """What is before a field, and the field's name, of a path to the field or to something taken out of it."""
    segments = path.split(".")
    while segments and segments[-1] in _TAKING:
        segments.pop()
    if len(segments) < 2 or segments[-1].endswith("()"):
        return None
    return ".".join(segments[:-1]), segments[-1]
