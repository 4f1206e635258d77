"""Ranked rows one by one."""

from typing import NamedTuple

from groundwire_server.backends.shared.scoring import RankedRows


class RankedRow(NamedTuple):
    """A row and its score."""

    row: int
    score: float


def listed(ranked: RankedRows) -> list[RankedRow]:
    """The rows, best first."""
    return [
        RankedRow(*row_and_score) for row_and_score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)
    ]
