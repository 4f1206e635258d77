"""Questions for the definition of an object that they name, as a name or in the words of one.

"Where is the definition of the procedure for organization user update?" asks for `OrganizationUser_Update`. Of its many
siblings (`OrganizationUser_UpdateMany`) each has the same words, in its name and in its text, and only the words in
their order tell which one is meant.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire_index.text.identifiers import STOP_WORDS, folded, identifiers, stem, words_within

NAME_GAIN, MOST_WORDS = 1.0, 8
"""An object that is named gains this for each word of its name, up to so many words."""
DATABASE_FACTOR = 1.5
"""Multiplies the scores of objects in SQL where the question asks for one."""

_ASKS = re.compile(
    r"\bdefinitions?\s+of\b|\bwhere\s+(?:is|are)\b[^.?!\n]{0,200}\b(?:defined|declared)\b", re.IGNORECASE
)
_DATABASE_OBJECT = re.compile(r"\b(?:procedure|table|view|trigger)s?\b", re.IGNORECASE)
_PREFIX = re.compile(r"[A-Za-z]{1,3}_(?=.)")
"""What all objects of a product begin with (`usp_`, `mp_`), so that people leave it out."""
_ASKING = frozenset(
    "current definition define defined declared procedure table view trigger function class method type stored new "
    "newest latest sql database object".split()
)
_SAYS_NOTHING = frozenset(map(stem, STOP_WORDS | _ASKING))


@dataclass(frozen=True, slots=True)
class AskedDefinition:
    """What a question asks the definition of: its `words` are stems between blanks, with a blank at either end."""

    words: str
    is_in_database: bool

    def factor(self, symbol: str, is_sql: bool) -> float:
        """What the score of a node with this qualified symbol is multiplied by, at least 1."""
        name = symbol.partition("(")[0].rpartition(".")[2]
        lengths = [
            len(name_words)
            for name_words in (_stems(name), _stems(_PREFIX.sub("", name, count=1)))
            if not _SAYS_NOTHING.issuperset(name_words) and f" {' '.join(name_words)} " in self.words
        ]
        by_name = 1.0 + NAME_GAIN * min(max(lengths, default=0), MOST_WORDS)
        return by_name * (DATABASE_FACTOR if self.is_in_database and is_sql else 1.0)


def asked_definition(question: str) -> AskedDefinition | None:
    """What the question asks the definition of; None for a question about anything else."""
    if _ASKS.search(question) is None:
        return None
    return AskedDefinition(f" {' '.join(_stems(question))} ", _DATABASE_OBJECT.search(question) is not None)


def _stems(text: str) -> Sequence[str]:
    return [stem(folded(word)) for identifier in identifiers(text) for word in words_within(identifier)]
