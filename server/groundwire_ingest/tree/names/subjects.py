"""What a type or file of tests is about, by its name."""

import re
from collections import defaultdict
from collections.abc import Iterator

from groundwire_ingest.tree.names.rules import INFERRED
from groundwire_ingest.tree.names.table import SymbolTable

_TYPE_AFFIX = re.compile(
    r"(?:(?:Unit|Integration|Functional|Acceptance|Web|Api|API)*(?:Tests?|Specs?|IT)|Fixture)$|^Tests?(?=[A-Z])"
)
_FILE_AFFIX = re.compile(r"^tests?_|_(?:tests?|spec)$|[.](?:tests?|spec|e2e|cy)$|Tests?$")
_SUFFIXES = re.compile(r"(?:\.d)?\.[A-Za-z]+$")


class Tested:
    """Finds the types and files of a table that tests are named after."""

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self._types: defaultdict[str, list[int]] = defaultdict(list)
        self._files: defaultdict[str, list[int]] = defaultdict(list)
        for number, definition in enumerate(table.definitions):
            if table.files[table.file_of(number)].is_test:
                continue
            if definition.construct == "type":
                self._types[definition.name].append(number)
            elif definition.construct == "module":
                self._files[_stem(table.path_of(number))].append(number)

    def by(self, number: int) -> Iterator[tuple[int, float]]:
        """What the tests in a definition are about; nothing where several things have the name."""
        definition = self._table.definitions[number]
        file = self._table.file_of(number)
        if not self._table.files[file].is_test:
            return
        if definition.construct == "type":
            name, found = _TYPE_AFFIX.sub("", definition.name), self._types
            is_named = name != definition.name
        elif definition.construct == "module":
            stem = _stem(self._table.path_of(number))
            name, found = _FILE_AFFIX.sub("", stem), self._files
            is_named = name != stem
        else:
            return
        nearest = self._table.nearest(file, tuple(found.get(name, ()))) if is_named and name else ()
        if len(nearest) == 1:
            yield nearest[0], INFERRED


def _stem(path: str) -> str:
    return _SUFFIXES.sub("", path.rpartition("/")[2])
