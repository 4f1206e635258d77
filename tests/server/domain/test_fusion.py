"""Reciprocal rank fusion against the seed's formula, written down literally."""

from functools import cmp_to_key

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire_server.domain.fusion import reciprocal_rank_fusion

ranked_list = st.lists(st.integers(0, 30), unique=True, max_size=25)

Oracle = list[tuple[int, float, int | None, int | None]]


def rank_in(source: list[int], item: int) -> int | None:
    return source.index(item) + 1 if item in source else None


def oracle(semantic: list[int], bm25: list[int], rrf_k: int) -> Oracle:
    """`score(ID) = sum of 1 / (rrf_k + rank_source(ID))`; then semantic rank, BM25 rank, id, each pair compared."""
    entries: Oracle = []
    for item in set(semantic) | set(bm25):
        score = 0.0
        for source in (semantic, bm25):
            if item in source:
                score += 1.0 / (rrf_k + source.index(item) + 1)
        entries.append((item, score, rank_in(semantic, item), rank_in(bm25, item)))

    def compare(
        first: tuple[int, float, int | None, int | None], second: tuple[int, float, int | None, int | None]
    ) -> int:
        if first[1] != second[1]:
            return -1 if first[1] > second[1] else 1
        for source in (2, 3):
            mine, other = first[source], second[source]
            if mine != other:
                if mine is None:
                    return 1
                return -1 if other is None or mine < other else 1
        return -1 if first[0] < second[0] else 1

    return sorted(entries, key=cmp_to_key(compare))


def fused(semantic: list[int], bm25: list[int], rrf_k: int) -> Oracle:
    return [
        (hit.item, hit.score, hit.semantic_rank, hit.bm25_rank) for hit in reciprocal_rank_fusion(semantic, bm25, rrf_k)
    ]


@settings(max_examples=300)
@given(semantic=ranked_list, bm25=ranked_list, rrf_k=st.integers(1, 1_000_000))
def test_fusion_equals_the_formula(semantic: list[int], bm25: list[int], rrf_k: int) -> None:
    assert fused(semantic, bm25, rrf_k) == oracle(semantic, bm25, rrf_k)


@settings(max_examples=300)
@given(
    order=st.permutations(range(8)),
    other=st.permutations(range(8)),
    semantic_size=st.integers(0, 8),
    bm25_size=st.integers(0, 8),
    # So large a constant makes all ranks weigh the same: every score is one of two, and tie-breaks decide.
    rrf_k=st.sampled_from([1, 2, 60, 1 << 60]),
)
def test_ties_are_broken_by_semantic_rank_then_bm25_rank(
    order: list[int], other: list[int], semantic_size: int, bm25_size: int, rrf_k: int
) -> None:
    semantic, bm25 = order[:semantic_size], other[:bm25_size]
    assert fused(semantic, bm25, rrf_k) == oracle(semantic, bm25, rrf_k)


@pytest.mark.parametrize(
    ("semantic", "bm25", "expected"),
    [
        pytest.param([7], [3], [7, 3], id="equal score: an item with a semantic rank beats one without"),
        pytest.param([9, 1], [1, 9], [9, 1], id="equal score: the lower semantic rank wins, not the smaller id"),
        pytest.param([5, 6, 7], [7, 9, 5], [5, 7, 6, 9], id="found by both: one entry with both terms"),
        pytest.param([], [4, 2], [4, 2], id="one empty list leaves the other's order"),
        pytest.param([], [], [], id="nothing to fuse"),
    ],
)
def test_known_orders(semantic: list[int], bm25: list[int], expected: list[int]) -> None:
    assert [hit.item for hit in reciprocal_rank_fusion(semantic, bm25, 60)] == expected


def test_the_lower_bm25_rank_decides_between_items_without_a_semantic_rank() -> None:
    hits = reciprocal_rank_fusion([], [9, 2, 5], 1 << 60)
    assert {hit.score for hit in hits} == {2.0**-60}
    assert [hit.item for hit in hits] == [9, 2, 5]


@given(semantic=ranked_list, bm25=ranked_list, rrf_k=st.integers(1, 100))
def test_every_item_stands_once_with_the_sum_of_its_terms(semantic: list[int], bm25: list[int], rrf_k: int) -> None:
    hits = reciprocal_rank_fusion(semantic, bm25, rrf_k)
    assert sorted(hit.item for hit in hits) == sorted(set(semantic) | set(bm25))
    both = set(semantic) & set(bm25)
    for hit in hits:
        assert (hit.semantic_rank is not None and hit.bm25_rank is not None) == (hit.item in both)
