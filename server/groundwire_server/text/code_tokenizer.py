"""The code-aware BM25 tokeniser: one for the index and for queries.

A text is normalised to NFKC and cut into identifiers: runs of Unicode letters, digits and underscores. Anything else
separates, so `dbo.Invoice` is the two identifiers `dbo` and `Invoice`. Tokens are case-folded.

* A **plain word** (`Invoice`, `tokens`, `HTTP`) yields its English Snowball stem, or nothing when it is a stop word.
* A **compound identifier** yields itself, unstemmed, and then its parts. It is cut at underscores, at case changes
  (`getUser`), before the last capital of an acronym (`HTTPServer` -> http, server; a plural `s` stays: `userIDs` ->
  user, ids) and between letters and digits (`sha256` -> sha, 256). Parts are stemmed, and stop words dropped, as plain
  words are; parts of one character (the 8 of `utf8`, the C of `C0001`) are dropped, as they match everything.
  Underscores alone yield nothing.
* Tokens longer than 64 characters are cut to 64. Runs longer than 256 characters are data (base64, hexadecimal), not
  names, and yield nothing.

Scripts that set no spaces between words (Chinese, Japanese, Thai) yield one token a run.
"""

import functools
import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import Protocol

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

from groundwire_server.text.stop_words import STOP_WORDS

MAX_TOKEN_LENGTH = 64
MAX_IDENTIFIER_LENGTH = 256

_RULES_VERSION = 1
_PYSTEMMER_VERSION = str(Stemmer.version())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
_SNOWBALL_VERSION = ".".join(_PYSTEMMER_VERSION.split(".")[:2])

TOKENIZER_FINGERPRINT = f"groundwire-code-{_RULES_VERSION}:snowball-english-{_SNOWBALL_VERSION}"
"""Changes whenever the same text may yield other tokens; an index and its queries must agree on it.

It names the version of the rules and stop words of this package, and that of the Snowball algorithms (their major and
minor version; patch releases only repackage).
"""

_IDENTIFIER = re.compile(r"\w+")
_CACHED_IDENTIFIERS = 1 << 17


class _WordStemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802


class _ThreadStemmer(threading.local):
    """A stemmer has internal state and must not be shared: every thread that touches this gets its own."""

    def __init__(self) -> None:
        self.stemmer: _WordStemmer = Stemmer.Stemmer("english", 0)  # pyright: ignore[reportUnknownMemberType]


_thread_stemmer = _ThreadStemmer()


def tokenize(text: str) -> list[str]:
    """The BM25 tokens of a text or a query, in reading order, repetitions kept. See the module for the rules."""
    tokens: list[str] = []
    for identifier in _IDENTIFIER.findall(unicodedata.normalize("NFKC", text)):
        if len(identifier) <= MAX_IDENTIFIER_LENGTH:
            tokens.extend(_identifier_tokens(identifier))
    return tokens


@functools.lru_cache(maxsize=_CACHED_IDENTIFIERS)
def _identifier_tokens(identifier: str) -> tuple[str, ...]:
    parts = tuple(_parts(identifier))
    if parts == (identifier,):
        return _word_tokens(identifier)
    if not parts:
        return ()
    tokens = [_folded(identifier)[:MAX_TOKEN_LENGTH]]
    for part in parts:
        if len(part) > 1:
            tokens.extend(_word_tokens(part))
    return tuple(tokens)


def _word_tokens(word: str) -> tuple[str, ...]:
    folded = _folded(word)
    if folded in STOP_WORDS:
        return ()
    return (_thread_stemmer.stemmer.stemWord(folded[:MAX_TOKEN_LENGTH]),)


def _folded(word: str) -> str:
    """Case-folded, and composed again: folding can take a composed character apart."""
    return unicodedata.normalize("NFKC", word.casefold())


def _parts(identifier: str) -> Iterator[str]:
    """The identifier's parts in order; the identifier itself when nothing in it separates."""
    start = 0
    for position in range(1, len(identifier)):
        if _is_boundary(identifier, position):
            yield from _without_underscores(identifier[start:position])
            start = position
    yield from _without_underscores(identifier[start:])


def _without_underscores(part: str) -> Iterator[str]:
    bare = part.strip("_")
    if bare:
        yield bare


def _is_boundary(identifier: str, position: int) -> bool:
    """True when a new part starts at `position`, which is at least 1."""
    before, here = identifier[position - 1], identifier[position]
    if (before == "_") != (here == "_") or before.isdecimal() != here.isdecimal():
        return True
    if not here.isupper():
        return False
    if not before.isupper():
        return before != "_"
    following = identifier[position + 1 : position + 3]
    is_plural = following[:1] == "s" and not following[1:].islower()
    return following[:1].islower() and not is_plural
