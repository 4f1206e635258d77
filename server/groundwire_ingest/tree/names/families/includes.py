"""Which files of C and C++ code include which."""

import posixpath
from collections import defaultdict, deque
from collections.abc import Iterator

from groundwire_ingest.tree.facts import Import
from groundwire_ingest.tree.names.rules import EXACT, WILDCARD
from groundwire_ingest.tree.names.table import SymbolTable

MAX_INCLUDED = 2000
"""How many files are followed from one before the rest is given up."""


class Includes:
    """Finds the included files of a table: from the including file's folder, or by the end of their paths."""

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self._file_at = {facts.path: file for file, facts in enumerate(table.files)}
        self._by_name: defaultdict[str, list[str]] = defaultdict(list)
        for path in self._file_at:
            self._by_name[posixpath.basename(path)].append(path)
        self._direct = [tuple(self._find(file)) for file in range(len(table.files))]
        self._all: dict[int, frozenset[int]] = {}

    def of(self, file: int) -> tuple[tuple[Import, int, float], ...]:
        """The files of the tree that a file includes, with the lines that say so and how sure that is."""
        return self._direct[file]

    def all_of(self, file: int) -> frozenset[int]:
        """The files that a file includes, and those that they include in turn, itself among them."""
        if file not in self._all:
            seen, pending = {file}, deque([file])
            while pending and len(seen) < MAX_INCLUDED:
                for _, other, _ in self._direct[pending.popleft()]:
                    if other not in seen:
                        seen.add(other)
                        pending.append(other)
            self._all[file] = frozenset(seen)
        return self._all[file]

    def _find(self, file: int) -> Iterator[tuple[Import, int, float]]:
        folder = posixpath.dirname(self._table.files[file].path)
        for item in self._table.files[file].imports:
            if item.name:
                continue
            beside = posixpath.normpath(posixpath.join(folder, item.module))
            if beside in self._file_at:
                yield item, self._file_at[beside], EXACT
                continue
            path = posixpath.normpath(item.module)
            named = self._by_name.get(posixpath.basename(path), ())
            files = tuple(self._file_at[other] for other in named if f"/{other}".endswith(f"/{path}"))
            nearest = self._table.nearest(file, tuple(map(self._table.module_of, files)))
            if len(nearest) == 1:
                yield item, self._table.file_of(nearest[0]), WILDCARD
