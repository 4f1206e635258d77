"""Does a piece of source answer a place? It must lie in the file, and be the symbol or declare it in its text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from bench.repositories.tables import Alternatives, Place

_PYTHON = (".py", ".pyi")
_INTRODUCING = (
    "class|record|struct|interface|enum|delegate|namespace|event|def|function|func|fn|type|const|let|var|"
    "message|service|rpc"
)
_NO_TYPES = frozenset(
    """
    and as await case else from goto if import in is new not or REFERENCES return throw typeof using when while yield
    """.split()
)
"""Words before a name that use it and do not declare it."""
_WORD = r"[\w<>\[\],.?()]+"
_TYPE = r"\w[\w<>\[\],.?)]*(?<!,)"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of source that a system returned; `symbol` is its qualified name, empty when it has none."""

    path: str
    symbol: str
    text: str


def answers(piece: Piece, alternatives: Alternatives) -> bool:
    """Whether the piece is, or declares in its text, one of the places."""
    return any(_answers(piece, place) for place in alternatives)


def lies_in_file(piece: Piece, alternatives: Alternatives) -> bool:
    """Whether the piece lies in the file of one of the places."""
    return any(_in_file(piece.path, place.path) for place in alternatives)


def places_found(pieces: Sequence[Piece], places: Iterable[Alternatives]) -> int:
    """How many of the places some piece answers."""
    return sum(any(answers(piece, place) for piece in pieces) for place in places)


def is_symbol(piece: Piece, place: Place) -> bool:
    """Whether the piece is the place's declaration itself: the last part of its qualified name is the symbol."""
    return _in_file(piece.path, place.path) and _last_part(piece.symbol) == place.symbol


def declares(text: str, path: str, symbol: str) -> bool:
    """Whether a line of the text declares the symbol, as far as the look of a line tells.

    In Python that is `def`, `class`, or an assignment with spaces around its sign and no comma at its end, which would
    make it an argument. In other languages it is a word such as `class` and the name, or a type and the name, followed
    by what follows a name that is declared: `(`, `{`, `;`, `=`, or the end of the line.
    """
    if symbol not in text:
        return False
    if path.endswith(_PYTHON):
        return _python_declaration(symbol).search(text) is not None
    if _introduced(symbol).search(text):
        return True
    return any({found["first"], found["word"]}.isdisjoint(_NO_TYPES) for found in _typed(symbol).finditer(text))


def _answers(piece: Piece, place: Place) -> bool:
    if not _in_file(piece.path, place.path):
        return False
    return not place.symbol or is_symbol(piece, place) or declares(piece.text, piece.path, place.symbol)


def _in_file(path: str, wanted: str) -> bool:
    return path == wanted or path.endswith(f"/{wanted}")


def _last_part(symbol: str) -> str:
    """`Add` of `Shop.Basket<T>.Add(int)`."""
    name = symbol.partition("(")[0]
    return re.sub(r"<[^.]*>", "", name).rpartition(".")[2]


@cache
def _python_declaration(symbol: str) -> re.Pattern[str]:
    name = re.escape(symbol)
    assigned = rf"{name}(?:[ \t]*:[^=\n]+)?[ \t]=[ \t].*(?<!,)$"
    return re.compile(rf"^[ \t]*(?:(?:async[ \t]+)?(?:def|class)[ \t]+{name}\b|{assigned})", re.MULTILINE)


@cache
def _introduced(symbol: str) -> re.Pattern[str]:
    """A word such as `class` and the name."""
    return re.compile(rf"^[ \t]*(?:{_WORD}[ \t]+)*?(?:{_INTRODUCING})[ \t]+{re.escape(symbol)}\b", re.MULTILINE)


@cache
def _typed(symbol: str) -> re.Pattern[str]:
    """A type, which is `word` or ends with it, and the name; `first` is the first word of the line."""
    name, after = re.escape(symbol), r"[ \t]*(?:<[^<>\n]*>[ \t]*)?(?:[({;]|=(?!=)|\r?$)"
    typed = rf"(?=(?P<first>{_WORD}))(?:{_WORD}[ \t]+)*?(?P<word>{_TYPE})[ \t]+{name}{after}"
    return re.compile(rf"^[ \t]*{typed}", re.MULTILINE)
