"""The interface of a language family for name resolution."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import ClassVar

from groundwire_ingest.tree.facts import Import
from groundwire_ingest.tree.names.layout import TreeLayout
from groundwire_ingest.tree.names.table import Found, Ref, SymbolTable

EXACT = 1.0
"""The source says which definition is meant: it is in the same file or imported by name."""

WILDCARD = 0.9
"""The name comes from a wildcard import, the same namespace, a base type or a variable's stated type."""

INFERRED = 0.8
"""The receiver is a variable whose type is that of its initialiser."""

DISPATCHED = 0.8
"""A call through an interface, or to a method that is overridden, goes to the only implementation there is."""

GUESSED = 0.5
"""Several overloads or implementations fit, or a method's name alone is unique among what the file imports."""

MAX_WILDCARDS = 256
"""Of more imports of everything in a file than this the first ones count: each is asked for each name."""

MAX_IMPORT_STEPS = 10
"""How many re-exports are followed before a name is given up."""


class NameRules(ABC):
    """The names that files of one language family see. Made for one table; answers are cached by the caller."""

    self_names: ClassVar[frozenset[str]]
    super_names: ClassVar[frozenset[str]]
    # True if a method names its type's members without a receiver.
    implicit_members: ClassVar[bool]
    # True if parameters distinguish several callables of one name.
    has_overloads: ClassVar[bool] = True
    # The member that runs when an instance is called, and the method that gives a function its later work.
    call_name: ClassVar[str] = ""
    deferring: ClassVar[frozenset[str]] = frozenset()
    # The method of every type that makes an instance of it.
    maker: ClassVar[str] = ""
    # The name of the member that `new` calls: empty where there is none, None for that of the type.
    constructor: ClassVar[str | None] = None
    # Methods of the language's own collections and strings, whose name alone says nothing about the tree.
    common_methods: ClassVar[frozenset[str]]

    def __init__(self, table: SymbolTable, layout: TreeLayout) -> None:
        self.table = table
        self.layout = layout
        self._imports = [{item.alias: item for item in reversed(facts.imports) if item.alias} for facts in table.files]
        wildcards = ((item for item in facts.imports if item.name == "*") for facts in table.files)
        self._wildcards = [tuple(islice(of_file, MAX_WILDCARDS)) for of_file in wildcards]
        # Types and the members that they have in other files.
        self.adopted: list[tuple[int, int]] = []
        # Pairs of declarations that make up one type, the first part before another.
        self.parts: list[tuple[int, int]] = []

    @abstractmethod
    def visible(self, scope: int, name: str) -> Found | None:
        """The target of an unqualified name in the file of definition `scope`, locals and members aside."""

    @abstractmethod
    def member(self, container: Ref, name: str) -> Found | None:
        """The definitions that a module, namespace or package offers under a name."""

    @abstractmethod
    def imported(self, file: int) -> Iterator[tuple[Import, Found]]:
        """The imports of a file that lead to files of the tree, and the definitions or modules they name."""

    @abstractmethod
    def sees(self, file: int, number: int) -> bool:
        """True if what the file imports, or the file itself, holds a definition."""

    def namespace_import(self, file: int, number: int) -> Import | None:
        """The import of a whole namespace or package, rather than of a file, that brings a definition in."""
        return None

    def bodies(self, number: int) -> tuple[int, ...]:
        """Where a declaration that has no body has it; empty for one that has."""
        return ()

    def given(self, number: int, parameter: str) -> int | None:
        """The callable whose result a framework gives to a parameter of definition `number`."""
        return None

    def module_in(self, file: int, dotted: str) -> tuple[Found, str] | None:
        """The module that the name in a string starts with, and the names behind it with dots between them."""
        return None

    def settings(self, file: int, path: str) -> tuple[int, ...]:
        """The variables of settings modules that a path reads by way of a framework."""
        return ()

    def is_type_name(self, name: str) -> bool:
        """True if a name that nothing in sight declares is by its form that of a type, which then is from elsewhere."""
        return self.implicit_members and name[:1].isupper()

    def accessed(self, method: str) -> tuple[str, ...]:
        """The fields that a method of this name may hand out where it is generated: the likeliest first."""
        return ()

    def inherited_result(self, method: str, base: str) -> str:
        """The type that a method returns which a type has from a base outside of the tree; empty if not known."""
        return ""

    def constructor_name(self, type_number: int) -> str:
        """The name of the member that `new` calls."""
        return self.table.definitions[type_number].name if self.constructor is None else self.constructor

    def import_of(self, file: int, alias: str) -> Import | None:
        """The import that binds a name in a file; the first of several."""
        return self._imports[file].get(alias)

    def wildcards_of(self, file: int) -> tuple[Import, ...]:
        """The imports of everything that a module, namespace or package holds."""
        return self._wildcards[file]


def with_outer(namespace: str) -> list[str]:
    """The namespace and those around it, the innermost first, the global one (empty) last."""
    names: list[str] = []
    while namespace:
        names.append(namespace)
        namespace = namespace.rpartition(".")[0]
    return [*names, ""]
