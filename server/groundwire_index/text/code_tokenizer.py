"""The code-aware BM25 tokeniser: one for the index and for queries.

A text is cut into identifiers and these into words as `text.identifiers` says. Anything but letters, digits and
underscores separates, so `dbo.Invoice` is the two identifiers `dbo` and `Invoice`. Tokens are case-folded.

* A **plain word** (`Invoice`, `tokens`, `HTTP`) yields its English Snowball stem, or nothing when it is a stop word.
* A **compound identifier** yields itself, unstemmed, and then the words inside it (`HTTPServer` -> httpserver, http,
  server). These are stemmed, and stop words dropped, as plain words are; words of one character (the 8 of `utf8`, the
  C of `C0001`) are dropped, as they match everything. Underscores alone yield nothing.
* Tokens longer than 64 characters are cut to 64.

A run of a script that sets no spaces between words (Chinese, Japanese, Thai) yields its pairs of characters.
"""

import functools

from groundwire_index.text.identifiers import (
    MAX_TOKEN_LENGTH,
    SNOWBALL,
    STOP_WORDS,
    folded,
    identifiers,
    pairs_of,
    stem,
    words_within,
)

_RULES_VERSION = 2

TOKENIZER_FINGERPRINT = f"groundwire-code-{_RULES_VERSION}:{SNOWBALL}"
"""Changes whenever the same text may yield other tokens; an index and its queries must agree on it.

It names the version of the rules and stop words of this package, and that of the Snowball algorithms.
"""

_CACHED_IDENTIFIERS = 1 << 17


def tokenize(text: str) -> list[str]:
    """The BM25 tokens of a text or a query, in reading order, repetitions kept. See the module for the rules."""
    return [token for identifier in identifiers(text) for token in _identifier_tokens(identifier)]


@functools.lru_cache(maxsize=_CACHED_IDENTIFIERS)
def _identifier_tokens(identifier: str) -> tuple[str, ...]:
    words = tuple(words_within(identifier))
    if words == (identifier,):
        return _word_tokens(identifier)
    if not words:
        return ()
    # A run of several scripts is no name that is asked for as a whole.
    is_name = not any(map(pairs_of, words))
    tokens = [folded(identifier)[:MAX_TOKEN_LENGTH]] if is_name else []
    for word in words:
        if len(word) > 1:
            tokens.extend(_word_tokens(word))
    return tuple(tokens)


def _word_tokens(word: str) -> tuple[str, ...]:
    name = folded(word)
    if pairs := pairs_of(name):
        return pairs
    return () if name in STOP_WORDS else (stem(name),)
