"""The prose BM25 tokeniser: words and the words inside identifiers, for the index and for queries.

A text is cut into identifiers and these into words as `text.identifiers` says. Words are case-folded and yield their
English Snowball stem; stop words, single letters and single digits yield nothing. A run of a script without spaces
yields its pairs of characters. No identifier yields itself whole: `getUserById` and "get the user by its id" have the
same tokens.
"""

import functools

from groundwire_index.text.identifiers import SNOWBALL, STOP_WORDS, folded, identifiers, pairs_of, stem, words_within

_RULES_VERSION = 2

PROSE_TOKENIZER_FINGERPRINT = f"groundwire-prose-{_RULES_VERSION}:{SNOWBALL}"
"""Changes whenever the same text may yield other tokens; an index and its queries must agree on it.

It names the version of the rules and stop words of this package, and that of the Snowball algorithms.
"""

_CACHED_IDENTIFIERS = 1 << 17


def tokenize_prose(text: str) -> list[str]:
    """The BM25 tokens of a text or a query, in reading order, repetitions kept. See the module for the rules."""
    return [token for identifier in identifiers(text) for token in _identifier_tokens(identifier)]


def words(text: str) -> list[str]:
    """Every word in reading order, case-folded, stop words and single characters too; of other scripts the pairs."""
    names = (folded(word) for identifier in identifiers(text) for word in words_within(identifier))
    return [word for name in names for word in (pairs_of(name) or (name,))]


def stems(text: str) -> list[str]:
    """The stem of each of `words`: what keywords are found in."""
    return [stem(word) for word in words(text)]


@functools.lru_cache(maxsize=_CACHED_IDENTIFIERS)
def _identifier_tokens(identifier: str) -> tuple[str, ...]:
    tokens: list[str] = []
    for word in words_within(identifier):
        name = folded(word)
        if pairs := pairs_of(name):
            tokens.extend(pairs)
        elif len(word) > 1 and name not in STOP_WORDS:
            tokens.append(stem(name))
    return tuple(tokens)
