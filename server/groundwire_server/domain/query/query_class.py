r"""The form of a query; it chooses the weights of an adaptive fusion.

Quotations are taken out first: texts between `"…"`, `'…'`, a pair of backticks or a pair of typographic
quotation marks, where no letter, digit or underscore is directly before or after. An apostrophe within a word is
none. The rest is cut at white space; pieces without a letter or digit are not words. Then

* QUOTED: quotations and no words.
* MIXED: quotations and words, or words that are not all of one kind.
* PATH, IDENTIFIER, NATURAL_LANGUAGE: words that are all paths, all names, or all neither; nothing at all is neither.

A word is a **path** when
- it ends in a file name with a suffix of `FILE_SUFFIXES` (`Invoice.cs`, `src/app.py:42`), or
- it begins with `./`, `../`, `~/` or `C:\`, or
- slashes or backslashes part at least three names in it, two when it begins with a slash, and one fewer when it is the
  only word: `GET /users/all` holds one, "a read/write lock" none.

Any other word is a **name** when
- it has a capital after a small letter, or two small letters after two capitals (`getUser`, `HTTPServer`; not `URLs`),
- it has an underscore next to a letter (`max_size`, `__init__`),
- it has words joined by `.`, `::`, `#` or `->`, one of them longer than a letter (`os.path`, `std::sort`; not `e.g.`),
- it has a word that starts with letters and goes on with a digit (`utf8`; not `2nd`),
- it is called (`foo()`), or
- it is the only word, unless it is of a script without spaces between words (Han, Kana, Thai, Lao, Burmese, Khmer).
"""

import re
from itertools import pairwise

from groundwire_server.domain.query.query import QueryClass

FILE_SUFFIXES = frozenset(
    """
    bat c cc cfg conf cpp cs csproj css cts cxx go gradle h hpp htm html ini ipynb java js json jsonl jsx kt kts lock md
    mdx mjs mod mts php properties proto ps1 py pyi rb rs rst scala sh sln sql svg swift tf toml ts tsx txt vb vue xml
    yaml yml
    """.split()
)
"""The endings of file names, without the dot."""

_PAIRS = (
    '""',
    "``",
    "\u201c\u201d",
    "\u201e\u201c",
    "\u201e\u201d",
    "\u2018\u2019",
    "\u201a\u2018",
    "\u00ab\u00bb",
    "\u00bb\u00ab",
    "\u2039\u203a",
)
_PAIRED = "|".join(f"{pair[0]}[^{pair}]++{pair[1]}" for pair in _PAIRS)
_APOSTROPHES = r"'(?:[^']|(?<=\w)'(?=\w))++'"
# No alternative backtracks, and each stops at the next mark of its own: together they are linear.
_QUOTATION = re.compile(rf"(?<!\w)(?:{_PAIRED}|{_APOSTROPHES})(?!\w)")
_WRAPPING = "".join(_PAIRS) + "'()[]{}<>,;:!?.\u2026"
_SEPARATORS = re.compile(r"[/\\]+")
_ROOT = re.compile(r"(?:~|\.{1,2})/|[A-Za-z]:[/\\]")
_JOINED = re.compile(r"(?<!\w)[^\W\d]\w*+(?:(?:\.|::|#|->)[^\W\d]\w*+)+")
_JOINT = re.compile(r"\.|::|#|->")
_DIGIT_AFTER_LETTERS = re.compile(r"(?<!\w)[^\W\d_]++\d")
_CALL = re.compile(r"\w\(\)")
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)


def classify(query: str) -> QueryClass:
    """The class of a query; see the module for the rules. Never raises; linear in the query's length."""
    rest, quotations = _QUOTATION.subn(" ", query)
    words = [word for word in rest.split() if any(map(str.isalnum, word))]
    if quotations:
        return QueryClass.MIXED if words else QueryClass.QUOTED
    classes = {_class_of_word(word, alone=len(words) == 1) for word in words}
    if len(classes) > 1:
        return QueryClass.MIXED
    return classes.pop() if classes else QueryClass.NATURAL_LANGUAGE


def _class_of_word(word: str, *, alone: bool) -> QueryClass:
    if _is_path(word, alone=alone):
        return QueryClass.PATH
    if _is_name(word) or (alone and not _WITHOUT_SPACES.search(word)):
        return QueryClass.IDENTIFIER
    return QueryClass.NATURAL_LANGUAGE


def _is_path(word: str, *, alone: bool) -> bool:
    segments = _SEPARATORS.split(word)
    # A place in the file may follow: `app.py:42`, `Invoice.cs::Create`, `decoder.py#decode`.
    file_name = re.split("[:#]", segments[-1].strip(_WRAPPING))[0]
    stem, _, suffix = file_name.rpartition(".")
    if _ROOT.match(word) or (stem and suffix.casefold() in FILE_SUFFIXES):
        return True
    named = sum(any(map(str.isalpha, segment)) for segment in segments)
    return named >= (2 if word.startswith("/") else 3) - alone


def _is_name(word: str) -> bool:
    return (
        _has_inner_capital(word)
        or any("_" in pair and (pair[0] + pair[1]).strip("_").isalpha() for pair in pairwise(word))
        or any(len(segment) > 1 for joined in _JOINED.findall(word) for segment in _JOINT.split(joined))
        or bool(_DIGIT_AFTER_LETTERS.search(word))
        or bool(_CALL.search(word))
    )


def _has_inner_capital(word: str) -> bool:
    for start in range(len(word) - 1):
        first, second, rest = word[start], word[start + 1], word[start + 2 : start + 4]
        if second.isupper() and (first.islower() or (first.isupper() and len(rest) == 2 and rest.islower())):
            return True
    return False
