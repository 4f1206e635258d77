"""The measures of one question, of one commit subject, and of evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bench.repositories.places import Piece, answers, lies_in_file, places_found
from bench.repositories.tables import Change, Question

DEPTH = 50
"""The deepest rank that a measure uses."""
_FIRST, _RANKED = 5, 10

Found: TypeAlias = Mapping[str, float]
"""The measures of a ranking, each in [0, 1], higher is better, by their names in tables; see `bench/README.md`."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a question: whether it shows the primary place, how many places it shows, and its tokens.

    `tokens` are those of the whole evidence, `text_tokens` those of the source texts in it.
    """

    is_primary_found: bool
    places_found: int
    places: int
    tokens: int
    text_tokens: int


def found_by(ranking: Sequence[Piece], question: Question) -> Found:
    """The measures of a ranking, best first, for a question."""
    first = ranking[:_FIRST]
    ranks = (rank for rank, piece in enumerate(ranking[:DEPTH], start=1) if answers(piece, question.primary))
    best = next(ranks, DEPTH + 1)
    return {
        "method@5": float(best <= _FIRST),
        "file@5": float(any(lies_in_file(piece, question.primary) for piece in first)),
        "items@5": places_found(first, question.places) / len(question.places),
        "MRR@10": 1.0 / best if best <= _RANKED else 0.0,
        "primary@50": float(best <= DEPTH),
    }


def files_found_by(ranking: Sequence[Piece], change: Change) -> Found:
    """The measures of a ranking, best first, for the subject of a commit."""
    paths = [piece.path for piece in ranking[:DEPTH]]
    files = list(dict.fromkeys(paths))
    best = next((rank for rank, path in enumerate(paths, start=1) if path in change.paths), DEPTH + 1)
    return {
        "Hit@5": float(best <= _FIRST),
        "Hit@5 of files": float(any(path in change.paths for path in files[:_FIRST])),
        "MRR@10": 1.0 / best if best <= _RANKED else 0.0,
    }


def evidence_of(pieces: Sequence[Piece], tokens: int, text_tokens: int, question: Question) -> Evidence:
    """The measures of evidence that shows the pieces, each with the shown part of its text."""
    return Evidence(
        is_primary_found=any(answers(piece, question.primary) for piece in pieces),
        places_found=places_found(pieces, question.places),
        places=len(question.places),
        tokens=tokens,
        text_tokens=text_tokens,
    )
