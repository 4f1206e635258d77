"""Reciprocal rank fusion against the formula, written down literally, and its properties."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cmp_to_key
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.search.fusion import best_first_by_ranks
from groundwire_server.domain.search.fusion import reciprocal_rank_fusion as fused_scores

ranked_list = st.lists(st.integers(0, 30), unique=True, max_size=25)
ranked_lists = st.lists(ranked_list, min_size=1, max_size=5)

# So large a constant makes all ranks weigh the same: scores count lists, and tie-breaks decide.
FLAT = 1 << 60


class FusedHit(NamedTuple):
    """An item of the fused list; `ranks` has one entry a list: 1-based, None where that list does not hold the item."""

    item: int
    score: float
    ranks: tuple[int | None, ...]


def reciprocal_rank_fusion(lists: Sequence[Sequence[int]], rrf_k: int) -> list[FusedHit]:
    items = sorted(set[int]().union(*lists))
    ranks = [np.asarray([rank_in(ranked, item) or 0 for item in items], dtype=np.int64) for ranked in lists]
    scores = fused_scores(ranks, rrf_k)
    return [
        FusedHit(items[place], float(scores[place]), tuple(int(ranked[place]) or None for ranked in ranks))
        for place in best_first_by_ranks(scores, ranks).tolist()
    ]


def rank_in(ranked: Sequence[int], item: int) -> int | None:
    return ranked.index(item) + 1 if item in ranked else None


def oracle(lists: Sequence[Sequence[int]], rrf_k: int) -> list[FusedHit]:
    """`score(item) = sum of 1 / (rrf_k + rank)`; then the rank in each list, then the item, each pair compared."""
    hits: list[FusedHit] = []
    for item in {item for ranked in lists for item in ranked}:
        ranks = tuple(rank_in(ranked, item) for ranked in lists)
        score = float(sum(Fraction(1.0 / (rrf_k + rank)) for rank in ranks if rank is not None))
        hits.append(FusedHit(item, score, ranks))

    def compare(first: FusedHit, second: FusedHit) -> int:
        if first.score != second.score:
            return -1 if first.score > second.score else 1
        for mine, other in zip(first.ranks, second.ranks, strict=True):
            if mine != other:
                if mine is None:
                    return 1
                return -1 if other is None or mine < other else 1
        return -1 if first.item < second.item else 1

    return sorted(hits, key=cmp_to_key(compare))


def order_of(lists: Sequence[Sequence[int]], rrf_k: int = 60) -> list[int]:
    return [hit.item for hit in reciprocal_rank_fusion(lists, rrf_k)]


@given(lists=ranked_lists, rrf_k=st.integers(1, 1_000_000))
def test_fusion_equals_the_formula(lists: list[list[int]], rrf_k: int) -> None:
    assert reciprocal_rank_fusion(lists, rrf_k) == oracle(lists, rrf_k)


@given(
    orders=st.lists(st.tuples(st.permutations(range(8)), st.integers(0, 8)), min_size=1, max_size=4),
    rrf_k=st.sampled_from([1, 2, 60, FLAT]),
)
def test_ties_are_broken_by_the_ranks_in_the_order_of_the_lists(
    orders: list[tuple[list[int], int]], rrf_k: int
) -> None:
    lists = [order[:size] for order, size in orders]
    assert reciprocal_rank_fusion(lists, rrf_k) == oracle(lists, rrf_k)


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        pytest.param([[7], [3]], [7, 3], id="equal score: an item of the first list beats one without"),
        pytest.param([[9, 1], [1, 9]], [9, 1], id="equal score: the lower first rank wins, not the smaller id"),
        pytest.param([[], [4], [2, 4]], [4, 2], id="found by two: one entry with both terms"),
        pytest.param([[5, 6, 7], [7, 9, 5]], [5, 7, 6, 9], id="the sum of two terms beats either"),
        pytest.param([[], [4, 2]], [4, 2], id="one empty list leaves the other's order"),
        pytest.param([[1, 2], [2, 3], [3, 1]], [1, 2, 3], id="equal ranks in different lists: the first list decides"),
    ],
)
def test_known_orders(lists: list[list[int]], expected: list[int]) -> None:
    assert order_of(lists) == expected


def test_the_lower_rank_of_a_later_list_decides_between_items_without_an_earlier_one() -> None:
    hits = reciprocal_rank_fusion([[], [9, 2, 5], []], FLAT)
    assert {hit.score for hit in hits} == {2.0**-60}
    assert [hit.item for hit in hits] == [9, 2, 5]


def test_which_list_holds_which_rank_does_not_change_the_score() -> None:
    """Added one by one, 1/61 + 1/62 + 1/65 and its permutations differ in the last bit."""
    lists = [[1, 2, 90, 91, 3], [2, 3, 90, 91, 1], [3, 1, 90, 91, 2]]
    scores = {hit.score for hit in reciprocal_rank_fusion(lists, 60) if hit.item < 90}
    assert len(scores) == 1


@given(ranked=ranked_list, rrf_k=st.integers(1, 1_000))
def test_single_list(ranked: list[int], rrf_k: int) -> None:
    assert order_of([ranked], rrf_k) == ranked


def test_two_lists_agreement() -> None:
    assert order_of([[7, 1, 2], [7, 2, 1]])[0] == 7


FIRST_AND_TENTH, FIFTH_TWICE = 50, 55
DISAGREEING = [[50, 11, 12, 13, 55], [21, 22, 23, 24, 55, 26, 27, 28, 29, 50]]


@pytest.mark.parametrize(
    ("rrf_k", "better", "worse"),
    [
        pytest.param(1, FIRST_AND_TENTH, FIFTH_TWICE, id="k=1"),
        pytest.param(34, FIRST_AND_TENTH, FIFTH_TWICE, id="k=34, the last for which one list's first leads"),
        pytest.param(60, FIFTH_TWICE, FIRST_AND_TENTH, id="k=60: 1/61 + 1/70 < 2/65"),
    ],
)
def test_two_lists_disagreement(rrf_k: int, better: int, worse: int) -> None:
    """First in one list and tenth in another beats fifth in both: by the formula, for every k below 35."""
    order = order_of(DISAGREEING, rrf_k)
    assert order.index(better) < order.index(worse)


def test_three_lists() -> None:
    """The item that stands second everywhere beats those that stand first once, only as every list counts."""
    lists = [[1, 9], [2, 9], [3, 9]]
    assert order_of(lists)[0] == 9
    assert [hit.score for hit in reciprocal_rank_fusion(lists, 60)] == [float(3 * Fraction(1.0 / 62)), *[1.0 / 61] * 3]


def test_k_parameter() -> None:
    """A larger constant brings scores closer together; an item that leads both lists leads with any."""
    lists = [[7, 1, 2], [7, 2, 1]]
    ratios = []
    for rrf_k in (1, 60, 1_000):
        hits = reciprocal_rank_fusion(lists, rrf_k)
        assert hits[0].item == 7
        ratios.append(hits[0].score / hits[1].score)
    assert ratios == sorted(set(ratios), reverse=True)


def test_bm25_only_items_handled() -> None:
    """Items that the dense list, here the first, does not hold take part fully."""
    dense, bm25 = [1, 2], [8, 1]
    assert reciprocal_rank_fusion([dense, bm25], 60)[2:] == [FusedHit(2, 1 / 62, (2, None))]
    assert reciprocal_rank_fusion([dense, bm25], 60)[1] == FusedHit(8, 1 / 61, (None, 1))


@pytest.mark.parametrize("lists", [[[]], [[], [], []]], ids=["an empty list", "empty lists"])
def test_empty_list(lists: list[list[int]]) -> None:
    assert reciprocal_rank_fusion(lists, 60) == []


@given(lists=ranked_lists, rrf_k=st.integers(1, 100))
def test_rrf_score_attached(lists: list[list[int]], rrf_k: int) -> None:
    hits = reciprocal_rank_fusion(lists, rrf_k)
    assert sorted(hit.item for hit in hits) == sorted(set().union(*lists))
    most = float(len(lists) * Fraction(1.0 / (rrf_k + 1)))
    assert all(0.0 < hit.score <= most for hit in hits)


def test_known_rrf_computation() -> None:
    """Two lists, k = 60, worked by hand to eight digits."""
    hits = reciprocal_rank_fusion([[1, 2, 3], [3, 1]], 60)
    assert [(hit.item, hit.ranks) for hit in hits] == [(1, (1, 2)), (3, (3, 1)), (2, (2, None))]
    assert [hit.score for hit in hits] == pytest.approx([0.03252247, 0.03226646, 0.01612903], abs=5e-9)
