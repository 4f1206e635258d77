"""The corpora that a query's words call for, by rules that an operator may replace (seed 002 §3.6)."""

from pathlib import Path
from typing import Annotated, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from groundwire_server.domain.corpus_boost import BoostRule
from groundwire_server.text.prose_tokenizer import stems

DEFAULT_BOOSTS_FILE = Path(__file__).with_name("corpus_boosts.yaml")
"""The rules of seed 002."""

_Text = Annotated[str, Field(min_length=1)]
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

_RULES = {
    "extra_forbidden": "is no key of a rule; remove it or correct its name",
    "missing": "is required; give it",
    "model_type": "must be a mapping of keys to values; see the packaged corpus_boosts.yaml",
}


class _Rule(BaseModel):
    model_config = _STRICT

    name: _Text
    keywords: Annotated[list[_Text], Field(min_length=1)]
    corpus_types: Annotated[list[_Text], Field(min_length=1)]
    multiplier: Annotated[float, Field(gt=0, le=10, allow_inf_nan=False)]


class _File(BaseModel):
    model_config = _STRICT

    rules: list[_Rule]


class CorpusBoosts:
    """Boost rules, and which of them a query calls for.

    A keyword is called for when the stems of its words stand in a row among the stems of the query's words, so that
    "deployment" calls "deploy", and "How to" calls "how to". The seed looked for substrings, by which "download" would
    call "down" and "podcast" "pod".
    """

    def __init__(self, rules: tuple[BoostRule, ...]) -> None:
        self._phrases = [(rule, {tuple(stems(keyword)) for keyword in rule.keywords}) for rule in rules]

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads rules from a YAML file; see `DEFAULT_BOOSTS_FILE` for its form.

        Raises OSError when the file cannot be read, and ValueError naming every problem: no YAML, an unknown or absent
        key, a wrong type, an empty list, a multiplier not in (0, 10], a keyword without a word, two rules of one name.
        """
        content = path.read_bytes()
        try:
            rules = _File.model_validate(yaml.safe_load(content)).rules
        except yaml.YAMLError as error:
            raise ValueError(f"is not YAML: {' '.join(str(error).split())}") from None
        except ValidationError as error:
            raise ValueError("; ".join(map(_problem, error.errors()))) from None
        _check_rules(rules)
        return cls(
            tuple(
                BoostRule(rule.name, tuple(rule.keywords), tuple(rule.corpus_types), rule.multiplier) for rule in rules
            )
        )

    def called(self, query: str) -> tuple[BoostRule, ...]:
        """The rules that the query calls for, in their order."""
        words = stems(query)
        return tuple(rule for rule, phrases in self._phrases if any(_holds(words, phrase) for phrase in phrases))


def _holds(words: list[str], phrase: tuple[str, ...]) -> bool:
    return any(tuple(words[start : start + len(phrase)]) == phrase for start in range(len(words) - len(phrase) + 1))


def _check_rules(rules: list[_Rule]) -> None:
    names: set[str] = set()
    for position, rule in enumerate(rules):
        if rule.name in names:
            raise ValueError(f"rules[{position}].name: {rule.name!r}: names an earlier rule; give each its own name")
        names.add(rule.name)
        for keyword in rule.keywords:
            if not stems(keyword):
                raise ValueError(f"rules[{position}].keywords: {keyword!r}: holds no word; give words to look for")


def _problem(details: ErrorDetails) -> str:
    """One problem as `place: rule`."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in details["loc"]).removeprefix(".")
    rule = _RULES.get(details["type"]) or f"is {details['input']!r}; {details['msg'].replace('Input should', 'must')}"
    return f"{place or 'the file'}: {rule}"
