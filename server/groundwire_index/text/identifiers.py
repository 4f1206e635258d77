"""The common part of both tokenisers: identifiers of a text, the words inside an identifier, and a word's stem.

A text is normalised to NFKC and cut into identifiers: runs of Unicode letters, digits and underscores. Runs longer
than 256 characters are data (base64, hexadecimal), not names, and are left out. An identifier is cut into its words at
underscores, at case changes (`getUser`), and between letters and digits (`sha256`). It is also cut before the last
capital of an acronym (`HTTPServer`; a plural `s` stays: `userIDs` -> user, IDs).

Chinese, Japanese, Thai and some other scripts set no spaces between words, and Korean puts endings behind them. An
identifier is cut where such a script begins and ends, and the run yields its overlapping pairs of characters: the words
of a text and of a query then share tokens wherever they stand in their runs. This is the usual way without a dictionary
(the bigrams of Lucene's CJK analyser).
"""

import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import Protocol

import Stemmer  # type: ignore[import-not-found]  # a C extension without stubs

MAX_TOKEN_LENGTH = 64
MAX_IDENTIFIER_LENGTH = 256

_PYSTEMMER_VERSION = str(Stemmer.version())  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

SNOWBALL = f"snowball-english-{'.'.join(_PYSTEMMER_VERSION.split('.')[:2])}"
"""The version of the Snowball algorithms: their major and minor version, as patch releases only repackage."""

_IDENTIFIER = re.compile(r"\w+")
_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "]"
)
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")


STOP_WORDS = frozenset(
    """
    a about after all also am an and any are as at be because been before being between both but by can could d did
    do does doing don for from had has have having he her here him his how i if in into is it its ll m may me might
    more most must my of on once only or other our out over own re s same shall she should so some such t than that
    the their them then there these they this those through to too under until up ve very was we were what when
    where which while who whom why will with would you your
    """.split()
)
"""English words that are too frequent to distinguish texts; the BM25 tokenisers drop them.

The list is small on purpose: articles, pronouns, prepositions, auxiliaries and the openings of questions. Negations
(`not`, `no`) stay, since "not found" and "found" differ. `s`, `t`, `d`, `ll`, `m`, `re` and `ve` are what an
apostrophe leaves behind (`user's`, `don't`, `we'll`).
"""


class _WordStemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802


class _ThreadStemmer(threading.local):
    """A stemmer has internal state and must not be shared: every thread that touches this gets its own."""

    def __init__(self) -> None:
        self.stemmer: _WordStemmer = Stemmer.Stemmer("english", 0)  # pyright: ignore[reportUnknownMemberType]


_thread_stemmer = _ThreadStemmer()


def identifiers(text: str) -> Iterator[str]:
    """The identifiers of a text in reading order, as written."""
    for identifier in _IDENTIFIER.findall(unicodedata.normalize("NFKC", text)):
        if len(identifier) <= MAX_IDENTIFIER_LENGTH:
            yield identifier


def words_within(identifier: str) -> Iterator[str]:
    """The words inside an identifier in order, as written; the identifier itself when nothing in it separates."""
    start = 0
    for position in range(1, len(identifier)):
        if _is_boundary(identifier, position):
            yield from _without_underscores(identifier[start:position])
            start = position
    yield from _without_underscores(identifier[start:])


def pairs_of(word: str) -> tuple[str, ...]:
    """The overlapping pairs of characters of a word in a script without spaces; () for any other word, and for one."""
    if len(word) < 2 or not _UNSPACED.match(word):
        return ()
    return tuple(word[place : place + 2] for place in range(len(word) - 1))


def folded(word: str) -> str:
    """Case-folded, Latin letters without accents, and composed again: folding can take a composed character apart."""
    lower = word.casefold()
    if lower.isascii():
        return lower
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFKD", lower)))


def stem(folded_word: str) -> str:
    """The English Snowball stem of the first 64 characters of a case-folded word."""
    return _thread_stemmer.stemmer.stemWord(folded_word[:MAX_TOKEN_LENGTH])


def _without_underscores(part: str) -> Iterator[str]:
    bare = part.strip("_")
    if bare:
        yield bare


def _is_boundary(identifier: str, position: int) -> bool:
    """True when a new part starts at `position`, which is at least 1."""
    before, here = identifier[position - 1], identifier[position]
    if (before == "_") != (here == "_") or before.isdecimal() != here.isdecimal():
        return True
    if not (before.isascii() and here.isascii()) and bool(_UNSPACED.match(before)) != bool(_UNSPACED.match(here)):
        return True
    if not here.isupper():
        return False
    if not before.isupper():
        return before != "_"
    following = identifier[position + 1 : position + 3]
    is_plural = following[:1] == "s" and not following[1:].islower()
    return following[:1].islower() and not is_plural
