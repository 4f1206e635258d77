"""The purposes of texts, in one table: their signs in paths, their factors, and how a question asks for them.

The purpose of a node follows from its path, its corpus type and its two flags. So it is the same for an index
that was built before, and for nodes that a caller brings. A build sets the flags by more than the path: by the header
of a file, by its imports and by its project (`groundwire_ingest.tree.flag_signs`).

`docs/purposes.md` describes the rows. `docs/adr/0073-purposes-of-texts.md` says how the factors were chosen.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from groundwire_index.nodes.node import Node
from groundwire_index.nodes.path_signs import PathSign, parts_of_path
from groundwire_index.nodes.purpose_signs import (
    AGENTS,
    CHANGE_LOGS,
    DATA,
    LICENCES,
    LOCK_FILES,
    MIGRATIONS,
    PROMPTS,
    STORIES,
    THIRD_PARTY,
    TOOL_CONFIGURATIONS,
    TRANSLATIONS,
    USER_INTERFACES,
    USER_TEXTS,
    words,
)


class Purpose(IntEnum):
    """The purpose of a text. The numbers are positions in `PURPOSES`, and are not stored."""

    PRODUCT = 0
    TEST = 1
    GENERATED = 2
    AGENT_INSTRUCTIONS = 3
    LICENCE = 4
    CHANGE_LOG = 5
    TRANSLATION = 6
    MIGRATION = 7
    STORY = 8
    USER_TEXT = 9
    TOOL_CONFIGURATION = 10
    DATA = 11
    DOCUMENTATION = 12
    USER_INTERFACE = 13
    PROMPT = 14
    THIRD_PARTY = 15


@dataclass(frozen=True, slots=True)
class PurposeRow:
    """A row of the table.

    Attributes:
        name: The name in requests, responses and documents.
        in_words: The purpose as a part of a sentence: "it is ...".
        factor: Multiplies the score of such a text in ranking, unless the question asks for it.
        asking_words: A question with one of these words, case-folded, asks for such texts.
        is_aside: True if evidence gives such texts a small share only, unless the question asks for them.
        is_data: True if the parts of a file repeat one form, so that neither its parts nor its length say anything.
        signs: A path with one of them has this purpose.
    """

    name: str
    in_words: str
    factor: float = 1.0
    asking_words: frozenset[str] = frozenset()
    is_aside: bool = False
    is_data: bool = False
    signs: tuple[PathSign, ...] = ()


PURPOSES: tuple[PurposeRow, ...] = (
    PurposeRow("product", "product code"),
    PurposeRow(
        "test",
        "a test",
        factor=0.5,
        asking_words=words("tests specs fixtures"),  # in the plural: "in a test" says where, not what is looked for
        is_aside=True,
    ),
    PurposeRow(
        "generated", "generated", factor=0.5, asking_words=words("generated lockfile"), is_aside=True, signs=LOCK_FILES
    ),
    PurposeRow(
        "agent_instructions",
        "an instruction for agents",
        factor=0.5,
        asking_words=words("agent agents skill skills claude copilot cursor"),
        is_aside=True,
        signs=AGENTS,
    ),
    PurposeRow(
        "licence",
        "a licence",
        factor=0.5,
        asking_words=words("licence license licences licenses licensed copyright"),
        is_aside=True,
        signs=LICENCES,
    ),
    PurposeRow(
        "change_log",
        "a change log",
        factor=0.5,
        asking_words=words("changelog changelogs"),
        is_aside=True,
        signs=CHANGE_LOGS,
    ),
    PurposeRow(
        "translation",
        "a translation",
        factor=0.5,
        asking_words=words("translation translations translated locale locales i18n l10n"),
        is_aside=True,
        is_data=True,
        signs=TRANSLATIONS,
    ),
    PurposeRow(
        "migration",
        "a migration",
        factor=0.75,
        asking_words=words("migration migrations migrate migrated"),
        signs=MIGRATIONS,
    ),
    PurposeRow(
        "story",
        "a story or a sample",
        factor=0.75,
        asking_words=words("stories storybook sample samples example examples demo demos tutorial tutorials"),
        signs=STORIES,
    ),
    PurposeRow(
        "user_text",
        "a text for users",
        factor=0.75,
        asking_words=words("blog marketing newsletter mail mails email emails wording template templates faq help"),
        signs=USER_TEXTS,
    ),
    PurposeRow(
        "tool_configuration",
        "a configuration of tools",
        factor=0.75,
        asking_words=words(
            "lint linter linters formatter bundler build builds built package packages config configuration dependency "
            "dependencies tsconfig eslint"
        ),
        signs=TOOL_CONFIGURATIONS,
    ),
    PurposeRow(
        "data",
        "data",
        factor=0.75,
        asking_words=words("json csv dataset datasets seed seeds dump settings configuration config"),
        is_aside=True,
        is_data=True,
        signs=DATA,
    ),
    PurposeRow(
        "documentation",
        "documentation",
        factor=0.75,
        asking_words=words("docs documentation documented readme guide tutorial manual"),
    ),
    PurposeRow(
        "user_interface",
        "a user interface",
        factor=0.75,
        asking_words=words(
            "page pages screen screens button buttons dialog dialogs menu menus modal popup tooltip sidebar toolbar "
            "click clicks clicked frontend ui interface component components icon icons"
        ),
        signs=USER_INTERFACES,
    ),
    PurposeRow(
        "prompt",
        "a prompt for a language model",
        factor=0.75,
        asking_words=words("prompt prompts ai llm llms gpt openai"),
        signs=PROMPTS,
    ),
    PurposeRow(
        "third_party",
        "a copy of a library by others",
        factor=0.5,
        asking_words=words("vendor vendored party library libraries jquery"),
        is_aside=True,
        signs=THIRD_PARTY,
    ),
)
"""The table, by the numbers of `Purpose`. Of several signs that a path has, the first in this order counts."""

PROSE_PREFIX = "DOC_"
"""How the corpus types of prose begin."""

_SIGNS = tuple((Purpose(number), sign) for number, row in enumerate(PURPOSES) for sign in row.signs)
_KEPT_PATHS = 1 << 16


@lru_cache(maxsize=_KEPT_PATHS)
def purpose_of_path(path: str) -> Purpose:
    """The purpose that has a sign in a path, which tests and generated code do not; PRODUCT without a sign."""
    parts = parts_of_path(path)
    return next((purpose for purpose, sign in _SIGNS if sign.is_in(parts)), Purpose.PRODUCT)


def purpose_of(node: Node) -> Purpose:
    """The purpose of a node."""
    if node.is_test:
        return Purpose.TEST
    if node.is_generated:
        return Purpose.GENERATED
    by_path = purpose_of_path(node.location.path)
    if by_path is Purpose.PRODUCT and node.corpus_type.startswith(PROSE_PREFIX):
        return Purpose.DOCUMENTATION
    return by_path


def asked_purposes(question: str) -> frozenset[Purpose]:
    """The purposes that the words of a question ask for."""
    in_question = set(re.findall(r"\w+", question.casefold()))
    rows = enumerate(PURPOSES)
    return frozenset(Purpose(number) for number, row in rows if not in_question.isdisjoint(row.asking_words))


def lowering_factors(wanted: Collection[Purpose]) -> Mapping[str, float]:
    """The factors that lower texts which a question does not ask for, by the names of their purposes."""
    return {
        row.name: row.factor
        for number, row in enumerate(PURPOSES)
        if row.factor != 1.0 and Purpose(number) not in wanted
    }
