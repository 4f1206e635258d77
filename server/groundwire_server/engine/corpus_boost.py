"""The corpora that a query's words call for, by rules that an operator may replace."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Self, TypeAlias

from pydantic import Field

from groundwire_configuration.yaml_model import StrictModel, read_model
from groundwire_index.text.identifiers import stem
from groundwire_index.text.prose_tokenizer import stems, words
from groundwire_server.domain.query.corpus_boost import BoostRule

DEFAULT_BOOSTS_FILE = Path(__file__).with_name("corpus_boosts.yaml")
"""The packaged rules."""

_Text = Annotated[str, Field(min_length=1)]
_Phrase: TypeAlias = tuple[str, ...]
"""Stems of consecutive words."""


class _Rule(StrictModel):
    name: _Text
    keywords: Annotated[list[_Text], Field(min_length=1)]
    corpus_types: Annotated[list[_Text], Field(min_length=1)]
    unless: list[_Text] = Field(default_factory=list)
    multiplier: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)]


class _File(StrictModel):
    rules: list[_Rule]


@dataclass(frozen=True, slots=True)
class _Phrases:
    """Phrases by their first stem, so that a text is read once however many there are."""

    by_first: Mapping[str, frozenset[_Phrase]]

    @classmethod
    def of(cls, phrases: Iterable[_Phrase]) -> Self:
        """The phrases; none is empty."""
        by_first: dict[str, set[_Phrase]] = {}
        for phrase in phrases:
            by_first.setdefault(phrase[0], set()).add(phrase)
        return cls({first: frozenset(some) for first, some in by_first.items()})

    def places(self, words: Sequence[str]) -> Iterator[range]:
        """The places where the words of a phrase are consecutive, by their start."""
        for start, word in enumerate(words):
            for phrase in self.by_first.get(word, ()):
                if tuple(words[start : start + len(phrase)]) == phrase:
                    yield range(start, start + len(phrase))


@dataclass(frozen=True, slots=True)
class _Called:
    """A rule with the stems of its keywords, of the phrases in which these do not count, and the words that do not."""

    rule: BoostRule
    keywords: _Phrases
    unless: _Phrases
    unless_words: frozenset[str]

    def by(self, query_words: Sequence[str], query_stems: Sequence[str]) -> bool:
        """True if a keyword is in the query outside of all excepted phrases."""
        reach = self._reach(query_words, query_stems)
        return any(place.stop > reach[place.start] for place in self.keywords.places(query_stems))

    def _reach(self, query_words: Sequence[str], query_stems: Sequence[str]) -> list[int]:
        """For each word, where the furthest end is of what is excepted and starts at it or before it."""
        ends = [place + 1 if word in self.unless_words else 0 for place, word in enumerate(query_words)]
        for place in self.unless.places(query_stems):
            ends[place.start] = max(ends[place.start], place.stop)
        return list(accumulate(ends, max))


class CorpusBoosts:
    """Boost rules, and which of them a query calls for.

    A keyword matches when the stems of its words are consecutive among the stems of the query's words, so that
    "deployment" matches "deploy", and "How to" matches "how to". Substrings would have "download" call "down" and
    "podcast" "pod". A keyword within a phrase of `unless` does not count. A phrase of one word is compared letter by
    letter, because it excludes a word that has the keyword's stem and another meaning.
    """

    def __init__(self, rules: tuple[BoostRule, ...]) -> None:
        self._rules = [_prepared(rule) for rule in rules]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads rules from a YAML file; see `DEFAULT_BOOSTS_FILE` for its form.

        Raises OSError when the file cannot be read. Raises ValueError that names every problem: no YAML, an unknown or
        absent key, a wrong type, an empty list, a multiplier not in (0, 10], a keyword or phrase without a word, two
        rules of one name.
        """
        rules = read_model(path, _File, "the packaged corpus_boosts.yaml").rules
        _check_rules(rules)
        return cls(
            tuple(
                BoostRule(
                    rule.name, tuple(rule.keywords), tuple(rule.corpus_types), rule.multiplier, tuple(rule.unless)
                )
                for rule in rules
            )
        )

    def called(self, query: str) -> tuple[BoostRule, ...]:
        """The rules that the query calls for, in their order."""
        query_words, query_stems = words(query), stems(query)
        return tuple(called.rule for called in self._rules if called.by(query_words, query_stems))


def _prepared(rule: BoostRule) -> _Called:
    unless = [words(phrase) for phrase in rule.unless]
    return _Called(
        rule=rule,
        keywords=_Phrases.of(tuple(stems(keyword)) for keyword in rule.keywords),
        unless=_Phrases.of(tuple(map(stem, phrase)) for phrase in unless if len(phrase) > 1),
        unless_words=frozenset(phrase[0] for phrase in unless if len(phrase) == 1),
    )


def _check_rules(rules: list[_Rule]) -> None:
    names: set[str] = set()
    for position, rule in enumerate(rules):
        if rule.name in names:
            raise ValueError(f"rules[{position}].name: {rule.name!r}: names an earlier rule; give each its own name")
        names.add(rule.name)
        for key, phrases in (("keywords", rule.keywords), ("unless", rule.unless)):
            for phrase in phrases:
                if not stems(phrase):
                    raise ValueError(f"rules[{position}].{key}: {phrase!r}: holds no word; give words to look for")
