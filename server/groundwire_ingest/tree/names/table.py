"""The definitions of all files of one language family, numbered through, with their members and variables."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from groundwire_index.repository_edges.nearest import nearest
from groundwire_ingest.tree.code_facts import Binding, CodeFacts, Definition

Ref: TypeAlias = int | str
"""A definition by its number in the table, or a namespace, package or folder by its name."""


@dataclass(frozen=True, slots=True)
class Found:
    """The target of a name: more than one where the tree leaves it open; `confidence` in (0, 1]."""

    refs: tuple[Ref, ...]
    confidence: float

    def at_most(self, confidence: float) -> "Found":
        """The same with a confidence of no more than the one given: a chain is as sure as its weakest link."""
        return self if self.confidence <= confidence else Found(self.refs, confidence)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The definitions among the references."""
        return tuple(ref for ref in self.refs if isinstance(ref, int))


@dataclass(frozen=True, slots=True)
class Value:
    """The value of an expression, or the type that it is an instance of.

    `resolved` are the types, modules or namespaces of the tree that it is; none where its type is not of the tree.
    `type_name` is its type as far as the source states it, as it is written in definition `scope`. With `is_itself` the
    expression is the class or function that was found, rather than an instance of it. With `is_wrapped` the value must
    first be waited for or unwrapped, as from an `Optional`. With `is_bound` its type is a type parameter, and what was
    found is the bound of that.
    """

    resolved: Found
    type_name: str = ""
    scope: int = 0
    is_itself: bool = False
    is_wrapped: bool = False
    is_bound: bool = False


NOTHING = Found((), 1.0)
"""The target of a name outside the tree."""


class SymbolTable:
    """Definitions by number, of files sorted by path. A file's own definition, the module, is `module_of(file)`."""

    def __init__(self, files: Sequence[CodeFacts]) -> None:
        self.files = tuple(files)
        self.definitions: list[Definition] = []
        self._first: list[int] = []
        self._file_of: list[int] = []
        self._members: defaultdict[int, dict[str, tuple[int, ...]]] = defaultdict(dict)
        self._locals: defaultdict[int, dict[str, int]] = defaultdict(dict)
        self._variables: defaultdict[int, dict[str, Binding]] = defaultdict(dict)
        self._owners: dict[int, int] = {}
        self._parts: dict[int, tuple[int, ...]] = {}
        self._parts_with: dict[int, defaultdict[str, dict[int, None]]] = {}
        self._also_set: defaultdict[int, list[int]] = defaultdict(list)
        for number, facts in enumerate(self.files):
            first = len(self.definitions)
            self._first.append(first)
            self.definitions.extend(facts.definitions)
            self._file_of.extend([number] * len(facts.definitions))
            for index, definition in enumerate(facts.definitions):
                if "local" in definition.traits:
                    self._owners[first + index] = first + definition.parent
                    self._locals[first + definition.parent].setdefault(definition.name, first + index)
                elif definition.stands_for >= 0:
                    self._name(first + definition.parent, first + definition.stands_for, definition.name)
                elif definition.parent >= 0:
                    self.add_member(first + definition.parent, first + index)
            for binding in facts.bindings:
                self._variables[first + binding.scope].setdefault(binding.name, binding)

    def module_of(self, file: int) -> int:
        """The number of a file's own definition; its other definitions follow in the file's order."""
        return self._first[file]

    def file_of(self, number: int) -> int:
        """The file of a definition."""
        return self._file_of[number]

    def is_test(self, number: int) -> bool:
        """True if a definition is in a file that tests others."""
        return self.files[self._file_of[number]].is_test

    def path_of(self, number: int) -> str:
        """The path of the file of a definition."""
        return self.files[self._file_of[number]].path

    def parent_of(self, number: int) -> int:
        """The definition around another; -1 around a module."""
        parent = self.definitions[number].parent
        return parent if parent < 0 else self._first[self._file_of[number]] + parent

    def owner_of(self, number: int) -> int:
        """The owner of a definition: the definition around it, unless it has been made a member of another; else -1."""
        return self._owners.get(number, -1)

    def enclosing_type(self, number: int) -> int | None:
        """The innermost type around a place in definition `number`, itself included."""
        while number >= 0:
            if self.is_type(number):
                return number
            number = self.owner_of(number)
        return None

    def is_type(self, number: int) -> bool:
        """True if a definition is a type, or a JavaScript function that is used as one because it has members."""
        construct = self.definitions[number].construct
        return construct == "type" or (construct == "callable" and any(map(self._members.get, self.parts(number))))

    def add_member(self, owner: int, member: int) -> None:
        """Makes a definition a member of another, in addition to the members that it has in its file.

        A variable that is set again, or to what is already defined under its name, is the one that was there.
        """
        self._owners[member] = owner
        definition = self.definitions[member]
        is_plain = definition.construct == "value" and definition.parameters is None
        if not is_plain or definition.name not in self._members[owner]:
            self._name(owner, member, definition.name)
        elif "conditional" in definition.traits:
            self._also_set[self._members[owner][definition.name][0]].append(member)

    def _name(self, owner: int, member: int, name: str) -> None:
        members = self._members[owner]
        members[name] = (*members.get(name, ()), member)
        self._note_part(owner, name)

    def is_variable_with_node(self, number: int) -> bool:
        """True if a definition is a constant or variable that has a node of its own."""
        definition, parent = self.definitions[number], self.parent_of(number)
        return definition.construct == "value" and parent >= 0 and definition.key != self.definitions[parent].key

    def alternatives(self, number: int) -> tuple[int, ...]:
        """A definition, with the places that set the same variable under a condition and have nodes of their own."""
        also_set = self._also_set.get(number, ())
        return (number, *filter(self.is_variable_with_node, also_set)) if also_set else (number,)

    def members_of(self, number: int) -> tuple[int, ...]:
        """Every member of one declaration, by name in the order of their first ones."""
        return tuple(member for named in self._members.get(number, {}).values() for member in named)

    def member_names(self, number: int) -> tuple[str, ...]:
        """The names of the members of one declaration."""
        return tuple(self._members.get(number, ()))

    def local(self, number: int, name: str) -> int | None:
        """The declaration under a name in a callable or in one around it."""
        while number >= 0:
            if name in self._locals.get(number, ()):
                return self._locals[number][name]
            number = self.parent_of(number)
        return None

    def members(self, number: int, name: str) -> tuple[int, ...]:
        """The members of that name, of all parts of a type; overloads are several, a joined type is its first part."""
        parts = self.parts_with(number, name)
        member_numbers = (
            member for part in parts if part in self._members for member in self._members[part].get(name, ())
        )
        return tuple(dict.fromkeys(self.parts(member)[0] for member in member_numbers))

    def variable(self, number: int, name: str) -> Binding | None:
        """The variable of that name directly in a definition: a local or a parameter, or a field."""
        return self._variables[number].get(name) if number in self._variables else None

    def join(self, parts: Sequence[int]) -> None:
        """Makes several declarations one type."""
        joined = tuple(parts)
        by_name: defaultdict[str, dict[int, None]] = defaultdict(dict)
        for part in joined:
            self._parts[part] = joined
            self._parts_with[part] = by_name
            for name in (*self._members.get(part, ()), *self._variables.get(part, ())):
                self._note_part(part, name)

    def _note_part(self, part: int, name: str) -> None:
        if part in self._parts_with:
            self._parts_with[part][name][part] = None

    def parts(self, number: int) -> tuple[int, ...]:
        """The declarations of one type; just the definition itself unless it was joined with others."""
        return self._parts.get(number, (number,))

    def parts_with(self, number: int, name: str) -> tuple[int, ...]:
        """The declarations of one type that may have a member or a field of that name."""
        if number not in self._parts_with:
            return (number,)
        return tuple(self._parts_with[number][name]) if name in self._parts_with[number] else ()

    def nearest(self, file: int, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Of several definitions those in the file itself, or whose paths share the most folders with the file's."""
        if len(numbers) < 2:
            return numbers
        near = frozenset(nearest(self.files[file].path, sorted(numbers), self.path_of))
        return tuple(number for number in numbers if number in near)
