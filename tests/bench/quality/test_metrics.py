"""The measures, by hand and against another way to write them down."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.quality.metrics import Measures, measure

RANKINGS = st.permutations([f"d{number}" for number in range(130)]).flatmap(
    lambda order: st.integers(0, 130).map(lambda length: order[:length])
)
RELEVANT = st.sets(st.integers(0, 140).map(lambda number: f"d{number}"), min_size=1, max_size=30)


def test_the_first_of_one() -> None:
    assert measure(["a", "b"], {"a"}) == Measures(1.0, 1.0, 1.0, 1.0, 1.0)


def test_the_second_of_one() -> None:
    measures = measure(["b", "a"], {"a"})
    assert measures.ndcg_10 == pytest.approx(0.6309297535714575)
    assert (measures.mrr_10, measures.recall_10, measures.hit_3) == (0.5, 1.0, 1.0)


def test_two_of_three_relevant() -> None:
    """Ranks 1 and 4 of an ideal 1, 2, 3: (1 + 0.430677) / (1 + 0.630930 + 0.5)."""
    measures = measure(["a", "x", "y", "b"], {"a", "b", "c"})
    assert measures.ndcg_10 == pytest.approx(1.430676558073393 / 2.1309297535714578)
    assert (measures.mrr_10, measures.recall_10, measures.recall_100, measures.hit_3) == (1.0, 2 / 3, 2 / 3, 1.0)


@pytest.mark.parametrize(
    ("rank", "expected"),
    [
        (3, Measures(0.5, 1 / 3, 1.0, 1.0, 1.0)),
        (4, Measures(1 / math.log2(5), 0.25, 1.0, 1.0, 0.0)),
        (10, Measures(1 / math.log2(11), 0.1, 1.0, 1.0, 0.0)),
        (11, Measures(0.0, 0.0, 0.0, 1.0, 0.0)),
        (100, Measures(0.0, 0.0, 0.0, 1.0, 0.0)),
        (101, Measures(0.0, 0.0, 0.0, 0.0, 0.0)),
    ],
)
def test_each_measure_ends_at_its_depth(rank: int, expected: Measures) -> None:
    ranking = [f"x{number}" for number in range(rank - 1)] + ["a"]
    assert measure(ranking, {"a"}) == expected


def test_more_relevant_than_places_can_still_be_perfect() -> None:
    relevant = {f"d{number}" for number in range(15)}
    measures = measure(sorted(relevant), relevant)
    assert measures.ndcg_10 == 1.0
    assert measures.recall_10 == 10 / 15


def test_nothing_found() -> None:
    assert measure([], {"a"}) == Measures(0.0, 0.0, 0.0, 0.0, 0.0)


@given(ranking=RANKINGS, relevant=RELEVANT)
def test_measures_equal_their_vector_form(ranking: list[str], relevant: set[str]) -> None:
    gains = np.zeros(200)
    gains[: len(ranking)] = [id_ in relevant for id_ in ranking]
    discounts = 1 / np.log2(np.arange(2, 12))
    best = np.sort(np.concatenate([np.ones(len(relevant)), np.zeros(10)]))[::-1][:10]
    measures = measure(ranking, relevant)
    assert measures.ndcg_10 == pytest.approx(gains[:10] @ discounts / (best @ discounts))
    assert measures.mrr_10 == pytest.approx(max(gains[:10] / np.arange(1, 11)))
    assert measures.recall_10 == pytest.approx(gains[:10].sum() / len(relevant))
    assert measures.recall_100 == pytest.approx(gains[:100].sum() / len(relevant))
    assert measures.hit_3 == gains[:3].max()
