"""Kinds and languages of code under each other's names: `cs` and `csharp` mean the same in a filter."""

from collections.abc import Iterable

LANGUAGE_OF_KIND = {
    "cs": "csharp",
    "js": "javascript",
    "kt": "kotlin",
    "md": "markdown",
    "py": "python",
    "rb": "ruby",
    "rs": "rust",
    "ts": "typescript",
}
"""The languages of the kinds that have another name."""
_KIND_OF_LANGUAGE = {language: kind for kind, language in LANGUAGE_OF_KIND.items()}


def kinds_of(names: Iterable[str]) -> tuple[str, ...]:
    """Kinds as they are given, and the kind of each name that is a language."""
    return _with_other_names(names, _KIND_OF_LANGUAGE)


def languages_of(names: Iterable[str]) -> tuple[str, ...]:
    """Languages as they are given, and the language of each name that is a kind."""
    return _with_other_names(names, LANGUAGE_OF_KIND)


def _with_other_names(names: Iterable[str], others: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(meant for name in names for meant in (name, others.get(name, name))))
