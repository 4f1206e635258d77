"""Strings that code builds, with the values of what is inserted, as far as the tree says them.

A value that a class gets from its constructor, from a type argument or from a property that is overridden depends on
the class that the object is of. A string of an inherited member then has a value for each of these classes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from groundwire_ingest.tree.code_facts import Call
from groundwire_ingest.tree.names.inheritance import Inheritance
from groundwire_ingest.tree.names.lookup import Lookup
from groundwire_ingest.tree.names.run_time_links.text_values import TextValues
from groundwire_ingest.tree.text_facts import BuiltText, TextRole

_MAX_CLASSES = 400
"""Of more classes than this that inherit a member the first ones count."""
_CHARACTERS_OF_FILE = 200_000
_CHARACTERS_FOR_EACH_WRITTEN = 20
"""The most characters of the strings of a file, for all classes together, besides those of a file."""
_LEAST_CHARACTERS = 16
"""A shorter string counts as one of this length."""


@dataclass(frozen=True, slots=True)
class ResolvedText:
    """A string in node `from_key`, with UNKNOWN_VALUE for each value that is not known.

    `is_inherited`: the string is in a member of a base class, and the node is the class that decides on its values.
    """

    from_key: str
    text: str
    line: int
    role: TextRole
    is_inherited: bool = False


class Texts:
    """Answers for one table."""

    def __init__(self, lookup: Lookup, inheritance: Inheritance) -> None:
        self._lookup = lookup
        self._table = lookup.table
        self._inheritance = inheritance
        self._values = TextValues(lookup)

    def resolved(self, file: int) -> Iterator[ResolvedText]:
        """The strings that a file builds or uses as SQL, and those that its calls are given by the names of variables.

        Of equal ones in a node there is one. They end where they would be much longer than what the file says.
        """
        left = self._most_characters(file)
        for text in self._of_file(file):
            left -= max(_LEAST_CHARACTERS, len(text.text))
            if left < 0:
                return
            yield text

    def _most_characters(self, file: int) -> int:
        built_texts = self._table.files[file].built_texts
        written = sum(len(part.text) for built in built_texts for part in built.text)
        return _CHARACTERS_OF_FILE + _CHARACTERS_FOR_EACH_WRITTEN * written

    def _of_file(self, file: int) -> Iterator[ResolvedText]:
        first, facts = self._table.module_of(file), self._table.files[file]
        known: set[ResolvedText] = set()
        built_texts = (text for built in facts.built_texts for text in self._of_built(first + built.scope, built))
        calls = facts.calls if self._values.names else ()
        of_calls = (text for call in calls for text in self._of_arguments(first + call.scope, call))
        for text in chain(built_texts, of_calls):
            if text not in known:
                known.add(text)
                yield text

    def _of_built(self, scope: int, built: BuiltText) -> Iterator[ResolvedText]:
        around = self._table.enclosing_type(scope)
        said = self._values.said(scope, built.text, around)
        yield ResolvedText(built.from_key, said, built.line, built.role)
        if around is None or all(not part.is_inserted for part in built.text):
            return
        first = self._table.parts(around)[0]
        below = {self._table.parts(number)[0] for number in self._inheritance.implementing(first)} - {first}
        classes = sorted(below)[:_MAX_CLASSES]
        said_by: dict[int, str] = {}
        for number in classes:
            bases = [base for base_type in self._lookup.bases(number) for base in base_type.numbers]
            for each in (number, *(base for base in bases if base in below)):
                if each not in said_by:
                    said_by[each] = self._values.said(scope, built.text, each)
            of_class, definition = said_by[number], self._table.definitions[number]
            if of_class not in {said_by.get(base, said) for base in bases} and self._inherits(number, scope):
                yield ResolvedText(definition.key, of_class, definition.line, built.role, is_inherited=True)

    def _inherits(self, number: int, scope: int) -> bool:
        """True if a class has the member around a scope from a base class, and none that replaces it."""
        member = scope
        while not self._table.is_type(self._table.owner_of(member)) and self._table.owner_of(member) >= 0:
            member = self._table.owner_of(member)
        owner, definition = self._table.owner_of(member), self._table.definitions[member]
        if owner < 0 or definition.construct != "callable":
            return True
        owners = self._table.parts(owner)
        for base, _ in self._lookup.lineage(number):
            if base in owners:
                return True
            replacing = (
                self._table.definitions[replacement] for replacement in self._table.members(base, definition.name)
            )
            if any(len(replacement.parameters or ()) == len(definition.parameters or ()) for replacement in replacing):
                return False
        return False

    def _of_arguments(self, scope: int, call: Call) -> Iterator[ResolvedText]:
        """The strings of constants, fields and variables that a call is given, unless they are written beside it."""
        around = self._table.enclosing_type(scope)
        for argument in call.arguments:
            read = (
                self._values.read(scope, argument, around)
                if argument.rpartition(".")[2] in self._values.names
                else None
            )
            if read is None:
                continue
            is_beside = read.held.scope == scope and any(not part.is_inserted for part in read.held.text)
            if not is_beside:
                yield ResolvedText(call.from_key, self._values.said(*read.held, read.around), call.line, "any")
