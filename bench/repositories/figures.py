"""The measures of one question, of one commit subject, and of evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.repositories.places import Piece, answers, lies_in_file, places_found
from bench.repositories.tables import Change, Question

DEPTH = 50
"""The deepest rank that a measure uses."""
_FIRST, _RANKED = 5, 10


@dataclass(frozen=True, slots=True)
class Found:
    """The measures of a ranking for a question, each in [0, 1], higher is better."""

    method_5: float
    """1 when the primary place is among the first five."""
    file_5: float
    """1 when a piece of the primary place's file is among the first five."""
    items_5: float
    """The share of all places among the first five."""
    mrr_10: float
    """1 / rank of the first piece that answers the primary place, 0 when it is not among the first ten."""
    primary_50: float
    """1 when the primary place is among the first fifty."""


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The measures of a ranking for a commit subject, each in [0, 1], higher is better."""

    hit_5: float
    """1 when a piece of some touched file is among the first five pieces."""
    files_5: float
    """1 if a touched file is among the first five files, each ranked by its first piece."""
    mrr_10: float
    """1 / rank of the first piece of a touched file, 0 when it is not among the first ten."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a question: whether it shows the primary place, how many places it shows, and its tokens.

    `tokens` are those of the whole evidence, `text_tokens` those of the source texts in it.
    """

    is_primary_found: bool
    found: int
    places: int
    tokens: int
    text_tokens: int


def found_by(ranking: Sequence[Piece], question: Question) -> Found:
    """The figures of a ranking, best first."""
    first = ranking[:_FIRST]
    ranks = [rank for rank, piece in enumerate(ranking[:DEPTH], start=1) if answers(piece, question.primary)]
    best = ranks[0] if ranks else None
    return Found(
        method_5=float(best is not None and best <= _FIRST),
        file_5=float(any(lies_in_file(piece, question.primary) for piece in first)),
        items_5=places_found(first, question.places) / len(question.places),
        mrr_10=1.0 / best if best is not None and best <= _RANKED else 0.0,
        primary_50=float(best is not None),
    )


def files_found_by(ranking: Sequence[Piece], change: Change) -> FoundFiles:
    """The figures of a ranking, best first, for the subject of a commit."""
    paths = [piece.path for piece in ranking[:DEPTH]]
    files = list(dict.fromkeys(paths))
    rank = next((rank for rank, path in enumerate(paths[:_RANKED], start=1) if path in change.paths), None)
    return FoundFiles(
        hit_5=float(rank is not None and rank <= _FIRST),
        files_5=float(any(path in change.paths for path in files[:_FIRST])),
        mrr_10=1.0 / rank if rank is not None else 0.0,
    )


def evidence_of(pieces: Sequence[Piece], tokens: int, text_tokens: int, question: Question) -> Evidence:
    """The measures of evidence that shows the pieces, each with the shown part of its text."""
    return Evidence(
        is_primary_found=any(answers(piece, question.primary) for piece in pieces),
        found=places_found(pieces, question.places),
        places=len(question.places),
        tokens=tokens,
        text_tokens=text_tokens,
    )
