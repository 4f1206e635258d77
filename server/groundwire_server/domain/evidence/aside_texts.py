"""Texts that a question seldom means, and how a question asks for them."""

import re

from groundwire_index.nodes.node import Node

_DATA_KINDS = frozenset({"csv", "json", "jsonl", "tsv", "svg", "lock"})
_TRANSLATION_FOLDERS = frozenset({"i18n", "l10n", "lang", "langs", "locale", "locales", "translations"})
_CHANGE_LOG = re.compile(r"(?:^|/)(?:changelog|changes|history|release[-_ ]?notes|news)\b[^/]*$", re.IGNORECASE)
_LICENCE = re.compile(r"(?:^|/)(?:licen[cs]e|copying|notice|third[-_ ]?party[-_ ]?notices?)\b[^/]*$", re.IGNORECASE)
_ASKING_WORDS = frozenset(
    "tests specs fixtures generated translation translations translated locale locales changelog changelogs release "
    "releases licence license licences licenses json csv dataset".split()
)


def is_aside(node: Node) -> bool:
    """True for a test, generated code, data, a translation, a change log or a licence."""
    path = node.location.path
    return (
        node.is_test
        or node.is_generated
        or node.kind in _DATA_KINDS
        or not _TRANSLATION_FOLDERS.isdisjoint(path.casefold().split("/")[:-1])
        or _CHANGE_LOG.search(path) is not None
        or _LICENCE.search(path) is not None
    )


def asks_for_aside(question: str) -> bool:
    """True if the words of a question ask for such texts."""
    return not _ASKING_WORDS.isdisjoint(re.findall(r"\w+", question.casefold()))
