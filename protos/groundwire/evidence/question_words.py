"""The words of questions and of code, in a form that can be compared, and how much each word tells."""

import math
import re
from collections.abc import Iterable, Sequence

_WORD = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_STEM_LENGTH = 5
"""Words count as equal if this many of their first letters are: `delete`, `deleted` and `deletion`."""
_STOP_WORDS = frozenset(
    "all and any are but can did does for from had has have how into its may not off one our out should some that the "
    "their them then there they this was were what when where which who whom whose why will with would you your".split()
)
"""Words of questions that say nothing about code, stemmed words among them."""
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\(\))?")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}")
_JOINT = re.compile(r"\.|::|->|#")
_FILE_NAME = re.compile(r"\.(?:c|cc|cpp|cs|css|go|h|html?|java|jsx?|json|kt|md|php|py|rb|rs|rst|sql|tsx?|vue|ya?ml)\Z")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case; names are split at capitals, underscores and digits."""
    words = (word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))
    return [word for word in words if word not in _STOP_WORDS]


def stem_of(word: str) -> str:
    """The first letters of a word."""
    return word[:_STEM_LENGTH]


def stems(text: str) -> frozenset[str]:
    """The first letters of the words of a text, as `words_of` has them."""
    return frozenset(map(stem_of, words_of(text)))


def identifiers(text: str) -> tuple[str, ...]:
    """The names of code in a text, each once, in order, by their last segment.

    A name has an inner capital or an underscore between letters, is all capitals with an underscore, is qualified, or
    is called with `()`. The name of a file is none.
    """
    names: dict[str, None] = {}
    for match in _IDENTIFIER.finditer(text):
        word = match[0].removesuffix("()")
        segments = _JOINT.split(word)
        is_name = (
            match[0] != word
            or (len(segments) > 1 and all(len(segment) > 1 for segment in segments) and not _FILE_NAME.search(word))
            or "_" in segments[-1].strip("_")
            or _INNER_CAPITAL.search(segments[-1]) is not None
        )
        if is_name:
            names[segments[-1]] = None
    return tuple(names)


def has_word(text: str, name: str) -> bool:
    """True if a text has a name as a whole word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        before, after = text[max(start - 1, 0) : start], text[end : end + 1]
        if not (before.isalnum() or before == "_" or after.isalnum() or after == "_"):
            return True
        start = text.find(name, end)
    return False


class QuestionWords:
    """The words of a question, and how much each one tells: more the fewer texts have it.

    A text has a word if it holds its first letters, in any case. That is less exact than to compare words with words,
    and fast enough to look at every line of some dozen texts.
    """

    def __init__(self, question: str, texts: Iterable[str]) -> None:
        """`texts` are the texts that say how rare a word is."""
        self.stems = tuple(sorted(stems(question)))
        lowered = [text.lower() for text in texts]
        counts = {stem: sum(stem in text for text in lowered) for stem in self.stems}
        self._weights = {stem: math.log((len(lowered) + 1) / (counts[stem] + 0.5)) for stem in self.stems}
        self._total = sum(self._weights.values())

    def share_in(self, text: str) -> float:
        """The weight of the words that a text has, as a share of the weight of all, in [0, 1]."""
        lowered = text.lower()
        shared = sum(self._weights[stem] for stem in self.stems if stem in lowered)
        return shared / self._total if self._total > 0.0 else 0.0

    def line_weights(self, lines: Sequence[str]) -> list[float]:
        """For each line the weight of the words in it; a word that several lines have counts less in each."""
        lowered = [line.lower() for line in lines]
        weights = [0.0] * len(lines)
        for stem in self.stems:
            places = [place for place, line in enumerate(lowered) if stem in line]
            weight = self._weights[stem] / math.sqrt(len(places)) if places else 0.0
            for place in places:
                weights[place] += weight
        return weights
