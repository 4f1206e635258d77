"""The modules that Django makes one object of, `django.conf.settings`, and where its attributes are set."""

from collections.abc import Callable, Iterable
from functools import cached_property

from groundwire_ingest.tree.languages.python.declarations import is_settings_module
from groundwire_ingest.tree.names.table import SymbolTable

MAX_FILES = 4
"""A setting that more files than this set, all equally near to the code that reads it, leads to none of them."""


class SettingsModules:
    """Finds settings by name. `wildcards` gives the files that a file imports everything from."""

    def __init__(self, table: SymbolTable, wildcards: Callable[[int], Iterable[int]]) -> None:
        self._table = table
        self._wildcards = wildcards

    def read(self, file: int, name: str) -> tuple[int, ...]:
        """The variables of that name that the file may read: those of tests only if it is one itself."""
        table = self._table
        found = tuple(
            number
            for other in self._files
            if table.files[file].is_test or not table.files[other].is_test
            for number in table.members(table.module_of(other), name)
            if table.definitions[number].construct == "value"
        )
        near = table.nearest(file, found)
        return near if len(near) <= MAX_FILES else ()

    @cached_property
    def _files(self) -> list[int]:
        """The modules that set what Django reads, those that these take everything from, and those that take theirs."""
        table = self._table
        taken = {file: set(self._wildcards(file)) for file in range(len(table.files))}
        found = {file for file in taken if is_settings_module(item.name for item in table.files[file].definitions)}
        known: set[int] = set()
        while known != found:
            known = set(found)
            found |= {file for file, sources in taken.items() if not found.isdisjoint(sources)}
            found |= {source for file in found for source in taken[file]}
        return sorted(found)
