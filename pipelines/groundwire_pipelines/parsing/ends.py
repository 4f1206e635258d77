"""The two ends of a question such as "what leads from the button to the table?", found by a simple rule."""

from collections.abc import Iterator, Sequence
from typing import Final

_ARROWS: Final = ("->", "→")
_PAIRS: Final = (("from", "to"), ("between", "and"))


def ends_of(question: str) -> tuple[str, str] | None:
    """The texts on both sides of the first arrow (`->` or `→`), else after `from` and `to`, or `between` and `and`.

    Of each pair, the first occurrence of the first word counts, and the first occurrence of the second word with text
    between them. The second end goes on to the end of the question, without punctuation. None if there is no such pair,
    or an end is empty.
    """
    readings = (*_by_arrows(question), *(_by_words(question.split(), *pair) for pair in _PAIRS))
    for first, second in readings:
        ends = first.strip(), second.strip().rstrip(".?! ")
        if all(ends):
            return ends
    return None


def _by_arrows(question: str) -> Iterator[tuple[str, str]]:
    for arrow in _ARROWS:
        first, _, second = question.partition(arrow)
        yield first, second


def _by_words(words: Sequence[str], before: str, between: str) -> tuple[str, str]:
    folded = [word.casefold() for word in words]
    if before not in folded:
        return "", ""
    start = folded.index(before) + 1
    if between not in folded[start + 1 :]:
        return "", ""
    middle = folded.index(between, start + 1)
    return " ".join(words[start:middle]), " ".join(words[middle + 1 :])
