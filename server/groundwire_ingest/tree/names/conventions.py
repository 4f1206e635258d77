"""The rules of names that frameworks add to those of a language family."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from groundwire_ingest.tree.names.rules import NameRules


class GivenParameters(ABC):
    """Which callables a framework calls for the parameters of others. Made for one table."""

    @abstractmethod
    def given(self, number: int, parameter: str) -> int | None:
        """The callable whose result the framework gives to a parameter of definition `number`; None for no such."""


class SettingsModules(ABC):
    """The variables of modules that code reads by way of a framework. Made for one table."""

    @abstractmethod
    def settings(self, file: int, path: str) -> tuple[int, ...]:
        """The variables that a path in a file reads; empty where it reads none."""


@dataclass(frozen=True, slots=True)
class NameConventions:
    """What a framework says of the names in code.

    Attributes:
        handlers: The base types of what handles messages, less the I of an interface, with spaces between them.
        providing: The decorators of callables whose results a container hands out, with spaces between them.
        deferring: The methods of a callable that call it later, with spaces between them.
        doubles: Matches how the names of the modules start that make mocks, stubs and fakes.
        inherited_result: The type that a method returns which a type has from a base outside of the tree; empty if not
            known.
        parameters: Makes what knows the callables for parameters.
        settings: Makes what knows the variables that are settings.
    """

    handlers: str = ""
    providing: str = ""
    deferring: str = ""
    doubles: re.Pattern[str] | None = None
    inherited_result: Callable[[str, str], str] | None = None
    parameters: Callable[[NameRules], GivenParameters] | None = None
    settings: Callable[[NameRules], SettingsModules] | None = None


class FrameworkNames:
    """The conventions of all frameworks of a language family as one, for the table of its rules."""

    def __init__(self, conventions: Sequence[NameConventions], rules: NameRules) -> None:
        self.handlers = _words(item.handlers for item in conventions)
        """The base types of what handles messages."""
        self.providing = _words(item.providing for item in conventions)
        """The decorators of callables whose results a container hands out."""
        self.deferring = _words(item.deferring for item in conventions)
        """The methods of a callable that call it later."""
        self._doubles = [item.doubles for item in conventions if item.doubles is not None]
        self._inherited_results = [item.inherited_result for item in conventions if item.inherited_result is not None]
        self._parameters = [item.parameters(rules) for item in conventions if item.parameters is not None]
        self._settings = [item.settings(rules) for item in conventions if item.settings is not None]

    def makes_doubles(self, module: str) -> bool:
        """True if an imported module is of a library that makes doubles."""
        return any(doubles.match(module) for doubles in self._doubles)

    def inherited_result(self, method: str, base: str) -> str:
        """The type that a method returns which a type has from a base outside of the tree; empty if not known."""
        results = (result(method, base) for result in self._inherited_results)
        return next(filter(None, results), "")

    def given(self, number: int, parameter: str) -> int | None:
        """The callable whose result a framework gives to a parameter of definition `number`."""
        callables = (item.given(number, parameter) for item in self._parameters)
        return next((number for number in callables if number is not None), None)

    def settings(self, file: int, path: str) -> tuple[int, ...]:
        """The variables of settings modules that a path reads by way of a framework."""
        return tuple(number for item in self._settings for number in item.settings(file, path))


def _words(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in text.split())
