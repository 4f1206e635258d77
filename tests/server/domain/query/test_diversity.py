"""Maximal marginal relevance against its definition, each choice made by trying every item that is left."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.query.diversity import diversify as diversify_columns


def diversify(
    scores: Sequence[float], similarities: Callable[[int], Sequence[float]], strength: float, count: int
) -> list[int]:
    return diversify_columns(np.asarray(scores), lambda place: np.asarray(similarities(place)), strength, count)


# A few values only, so that ties are frequent.
levels = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
strengths = st.one_of(levels, st.floats(0, 1))


@st.composite
def pools(draw: st.DrawFn) -> tuple[list[float], list[list[float]]]:
    """Scores, best first, and a symmetric table of similarities in [-1, 1]."""
    size = draw(st.integers(0, 9))
    scores = sorted(draw(st.lists(st.one_of(levels, st.floats(0, 3)), min_size=size, max_size=size)), reverse=True)
    table = [[1.0] * size for _ in range(size)]
    for row in range(size):
        for column in range(row):
            table[row][column] = table[column][row] = draw(st.one_of(levels, st.floats(-1, 1)))
    return scores, table


def oracle(scores: Sequence[float], table: Sequence[Sequence[float]], strength: float, count: int) -> list[int]:
    highest = max(scores, default=0.0) or 1.0
    chosen: list[int] = []
    while len(chosen) < min(count, len(scores)):
        best, best_value = -1, float("-inf")
        for item in range(len(scores)):
            if item in chosen:
                continue
            penalty = max([0.0, *(table[other][item] for other in chosen)])
            value = (1.0 - strength) * scores[item] / highest - strength * penalty
            if value > best_value:
                best, best_value = item, value
        chosen.append(best)
    return chosen


@given(pool=pools(), strength=strengths, count=st.integers(0, 12))
def test_choices_equal_the_definition(pool: tuple[list[float], list[list[float]]], strength: float, count: int) -> None:
    scores, table = pool
    assert diversify(scores, table.__getitem__, strength, count) == oracle(scores, table, strength, count)


@given(pool=pools(), strength=strengths, count=st.integers(0, 12))
def test_similarity_is_asked_once_for_each_item_that_another_is_chosen_after(
    pool: tuple[list[float], list[list[float]]], strength: float, count: int
) -> None:
    scores, table = pool
    looked_up: list[int] = []

    def similarity(position: int) -> Sequence[float]:
        looked_up.append(position)
        return table[position]

    chosen = diversify(scores, similarity, strength, count)
    assert looked_up == (chosen[:-1] if strength > 0 else [])


TWINS = [1.0, 0.9, 0.8]
TWINS_TABLE = [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]


@pytest.mark.parametrize(
    ("strength", "expected"),
    [
        pytest.param(0.0, [0, 1, 2], id="not at all"),
        pytest.param(0.05, [0, 1, 2], id="not enough: 0.95 * 0.9 - 0.05 > 0.95 * 0.8"),
        pytest.param(0.5, [0, 2, 1], id="the twin of the best is held back"),
        pytest.param(1.0, [0, 2, 1], id="as much as it can be"),
    ],
)
def test_a_strength_holds_back_what_resembles_better_ones(strength: float, expected: list[int]) -> None:
    assert diversify(TWINS, TWINS_TABLE.__getitem__, strength, 3) == expected


def test_opposites_gain_nothing_over_what_is_merely_unlike() -> None:
    table = [[1.0, 0.0, -1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]
    assert diversify([1.0, 0.5, 0.5], table.__getitem__, 0.5, 2) == [0, 1]


def test_scores_count_relative_to_the_highest() -> None:
    """The same pool with scores of a hundredth, as of reciprocal ranks, is diversified alike."""
    scaled = [score / 64 for score in TWINS]
    for strength in (0.05, 0.5):
        assert diversify(scaled, TWINS_TABLE.__getitem__, strength, 3) == diversify(
            TWINS, TWINS_TABLE.__getitem__, strength, 3
        )


def test_items_without_any_score_are_chosen_by_their_unlikeness() -> None:
    assert diversify([0.0, 0.0, 0.0], TWINS_TABLE.__getitem__, 0.5, 3) == [0, 2, 1]
