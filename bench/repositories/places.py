"""True if a piece of source matches a place: it must be in the file, and be the symbol or declare it in its text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.repositories.declarations import declares
from bench.repositories.tables import Alternatives, Place


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of source that a system returned; `symbol` is its qualified name, empty when it has none."""

    path: str
    symbol: str
    text: str


def answers(piece: Piece, alternatives: Alternatives) -> bool:
    """True if the piece is, or declares in its text, one of the places."""
    return any(
        in_file(piece.path, place.path)
        and (not place.symbol or is_symbol(piece, place) or declares(piece.text, piece.path, place.symbol))
        for place in alternatives
    )


def lies_in_file(piece: Piece, alternatives: Alternatives) -> bool:
    """True if the piece lies in the file of one of the places."""
    return any(in_file(piece.path, place.path) for place in alternatives)


def in_file(path: str, wanted: str) -> bool:
    """True if the path is the wanted one, or ends with it after a `/`."""
    return path == wanted or path.endswith(f"/{wanted}")


def places_found(pieces: Sequence[Piece], places: Iterable[Alternatives]) -> int:
    """The number of places that some piece matches."""
    return sum(any(answers(piece, place) for piece in pieces) for place in places)


def is_symbol(piece: Piece, place: Place) -> bool:
    """True if the piece is the place's declaration itself: the last part of its qualified name is the symbol."""
    name = re.sub(r"<[^.]*>", "", piece.symbol.partition("(")[0])  # `Shop.Basket.Add` of `Shop.Basket<T>.Add(int)`
    return in_file(piece.path, place.path) and name.rpartition(".")[2] == place.symbol
