"""Pytest: the fixtures that it calls for the parameters of tests."""

from groundwire_ingest.frameworks.framework import Framework
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.names.conventions import GivenParameters, NameConventions
from groundwire_ingest.tree.names.rules import NameRules

_CONFTEST = "conftest.py"


class Fixtures(GivenParameters):
    """The fixtures of a table by where tests see them."""

    def __init__(self, rules: NameRules) -> None:
        self._table = table = rules.table
        self._fixtures: dict[tuple[int, str], int] = {}
        self._conftests: dict[str, int] = {}
        for file, facts in enumerate(table.files):
            folder, _, name = facts.path.rpartition("/")
            if name == _CONFTEST:
                self._conftests[folder] = table.module_of(file)
            for reference in facts.references:
                number = table.module_of(file) + reference.scope
                if reference.role == "decorator" and reference.name.rpartition(".")[2] == "fixture":
                    fixture = table.definitions[number]
                    self._fixtures.setdefault((table.owner_of(number), fixture.name), number)

    def given(self, number: int, parameter: str) -> int | None:
        """The fixture of that name in the class of a test, in its file, or in the nearest `conftest.py` above it.

        None for anything but tests and fixtures, and for a fixture that would get itself.
        """
        name = self._table.definitions[number].name
        is_fixture = self._fixtures.get((self._table.owner_of(number), name)) == number
        if not is_fixture and not (name.startswith("test") and self._table.files[self._table.file_of(number)].is_test):
            return None
        for owner in self._owners(number):
            fixture = self._fixtures.get((owner, parameter))
            if fixture is not None and fixture != number:
                return fixture
        return None

    def _owners(self, number: int) -> list[int]:
        """The definitions that may hold a fixture for a test, the nearest first."""
        owners = [self._table.owner_of(number), self._table.module_of(self._table.file_of(number))]
        folders = folders_above(self._table.path_of(number))
        owners.extend(self._conftests[folder] for folder in folders if folder in self._conftests)
        return owners


PYTEST = Framework(languages="python", names=NameConventions(parameters=Fixtures), test_modules="pytest")
