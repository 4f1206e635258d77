"""Names as the trigram source compares them: what a node is called, and which names a query mentions.

A name is compared by its letters and digits alone, so that `getUserById`, `get_user_by_id` and "get user by id" are one
name. Similarity is that of PostgreSQL's pg_trgm: the shared part of the two names' sets of trigrams, where a name is
padded with two spaces before and one after.
"""

import functools
import re
import unicodedata

from groundwire_index.text.identifiers import identifiers, words_within

MAX_NAME_LENGTH = 256
MAX_QUERY_NAMES = 16
MAX_WORDS_OF_A_NAME = 4

_CACHED_NAMES = 1 << 14
_LEAST_CHARACTERS = 3
"""Shorter words are no names: `e.g.`, `i.e.`."""
_FILE_SUFFIXES = frozenset(
    """
    bat c cc cfg conf cpp cs csproj css cts cxx go gradle h hpp htm html ini ipynb java js json jsonl jsx kt kts lock md
    mdx mjs mod mts php properties proto ps1 py pyi rb rs rst scala sh sln sql svg swift tf toml ts tsx txt vb vue xml
    yaml yml
    """.split()
)
# A dash joins words of a path, yet makes no name: "well-known" is a word.
_WORD = re.compile(r"\w+(?:(?:->|::|[-.#/\\])\w+)*(?P<call>\(\))?")
_JOINT = re.compile(r"->|::|[.#/\\]")
_QUALIFIER = re.compile(r"\A.*(?:->|::|[.#/\\]| > )(?=.)", re.DOTALL)
_FOLDERS = re.compile(r"\A.*(?:->|::|[#/\\]| > )(?=.)", re.DOTALL)


@functools.lru_cache(maxsize=_CACHED_NAMES)
def normalised_name(text: str) -> str:
    """The letters and digits of a name, NFKC and case-folded; the last 256, as the end of a path says most."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(filter(str.isalnum, folded))[-MAX_NAME_LENGTH:]


def node_names(symbol: str, path: str) -> tuple[str, ...]:
    """The distinct normalised names of a node: last segment of its symbol, symbol, file name, path."""
    # A symbol may state its parameters: `Invoices.Create(System.Int32)`.
    return _distinct(_last_segment(symbol.partition("(")[0]), symbol, _without(_FOLDERS, path), path)


def query_names(query: str) -> tuple[str, ...]:
    """The distinct normalised names that a query mentions, at most 16, in its order.

    These are the words that look like code or a path (compound, qualified or called with `()`), each whole and by its
    last segment. Where there is none, a query of at most four words is itself one name.
    """
    words = list(_WORD.finditer(query))
    mentioned = [word[0] for word in words if _is_name(word)]
    if mentioned:
        return _distinct(*(name for word in mentioned for name in (word, _last_segment(word))))[:MAX_QUERY_NAMES]
    return _distinct(query) if len(words) <= MAX_WORDS_OF_A_NAME else ()


def trigrams(name: str) -> frozenset[str]:
    """The trigrams of a normalised name; none for an empty one."""
    padded = f"  {name} "
    return frozenset(padded[start : start + 3] for start in range(len(name) + 1)) if name else frozenset()


def _distinct(*names: str) -> tuple[str, ...]:
    normalised = (normalised_name(name) for name in names)
    return tuple(dict.fromkeys(name for name in normalised if name))


def _last_segment(name: str) -> str:
    """The part after the last separator; a file name keeps its suffix."""
    is_file = name.rpartition(".")[2].casefold() in _FILE_SUFFIXES
    return _without(_FOLDERS if is_file else _QUALIFIER, name)


def _without(qualifier: re.Pattern[str], name: str) -> str:
    match = qualifier.match(name)
    return name[match.end() :] if match else name


def _is_name(word: re.Match[str]) -> bool:
    characters = normalised_name(word[0])
    if len(characters) < _LEAST_CHARACTERS or characters.isdecimal():
        return False
    are_compound = (tuple(words_within(identifier)) not in ((), (identifier,)) for identifier in identifiers(word[0]))
    return bool(word["call"] or _JOINT.search(word[0])) or any(are_compound)
