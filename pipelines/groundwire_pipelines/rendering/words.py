"""The words of questions and of code, in a form that can be compared."""

import re

_WORD = re.compile(r"[^\W\d_]{3,}")
_HUMP = re.compile(r"(?<=[^\W_A-Z])(?=[A-Z])")
_STEM_LENGTH = 5
"""Words count as equal if this many of their first letters are: `delete`, `deleted` and `deletion`."""
_STOP_WORDS = frozenset(
    "all and any are but can did does for from had has have how into its may not off one our out should some that the "
    "their them then there they this was were what when where which who whom whose why will with would you your".split()
)
"""Words of questions that say nothing about code, stemmed words among them."""


def stems(text: str) -> frozenset[str]:
    """The first letters of the words of a text, in lower case; names are split at capitals, underscores and digits."""
    words = (word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))
    return frozenset(word[:_STEM_LENGTH] for word in words if word not in _STOP_WORDS)
