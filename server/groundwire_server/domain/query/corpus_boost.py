"""Which corpora a query calls for."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class BoostRule:
    """A query that holds one of `keywords`, outside of the phrases of `unless`, calls for nodes of `corpus_types`.

    Their scores are multiplied by `multiplier`.
    """

    name: str
    keywords: tuple[str, ...]
    corpus_types: tuple[str, ...]
    multiplier: float
    unless: tuple[str, ...] = ()


def boost_of(rules: Iterable[BoostRule], corpus_type: str) -> float:
    """The product of the multipliers of the rules that name the corpus type; 1 for none.

    `rules` are those that the query called for.
    """
    return prod((rule.multiplier for rule in rules if corpus_type in rule.corpus_types), start=1.0)
