"""Exact semantic search against brute force in double precision, on each of its paths."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from groundwire_index.vectors.vector_file import VectorTable
from groundwire_server.backends.embedded.retrievers.semantic import MEASURED, rank_by_similarity, similarities
from groundwire_server.query_embedding.query_vectors import unit_vector
from support.index_writing import write_vectors
from support.ranked import RankedRow, listed

Rows = NDArray[np.float32]

EXACT_PATHS = {
    "each row scored": replace(MEASURED, direct_rows=1 << 30, exact_rows=1 << 30),
    "bytes first": replace(MEASURED, direct_rows=0, exact_rows=1 << 30),
}
ways = st.sampled_from(list(EXACT_PATHS))


def ranked(
    way: str, table: VectorTable, query: NDArray[np.float64], allowed: NDArray[np.bool_], count: int
) -> list[RankedRow]:
    nearest = rank_by_similarity(table, query, allowed, count, EXACT_PATHS[way])
    assert nearest.exact
    return listed(nearest.hits)


def table_of(rows: Rows, present: NDArray[np.bool_] | None = None) -> VectorTable:
    with TemporaryDirectory() as directory:
        write_vectors(Path(directory), rows, np.ones(len(rows), dtype=np.bool_) if present is None else present)
        return VectorTable(Path(directory), *rows.shape)


def unit_rows(vectors: ArrayLike) -> Rows:
    rows = np.asarray(vectors, dtype=np.float64)
    lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
    units: Rows = np.divide(rows, lengths).astype(np.float32)
    return units


def one_hot(position: int, sign: int) -> tuple[float, ...]:
    return tuple(float(sign) if axis == position else 0.0 for axis in range(8))


def halves(axes: Sequence[int], signs: Sequence[int]) -> tuple[float, ...]:
    return tuple(0.5 * signs[axis] if axis in axes else 0.0 for axis in range(8))


signs = st.sampled_from([-1, 1])
# Vectors whose length and products no rounding touches, so that brute force is exact and ties are true ties.
exact_vectors = st.one_of(
    st.builds(one_hot, st.integers(0, 7), signs),
    st.builds(
        halves,
        st.lists(st.integers(0, 7), unique=True, min_size=4, max_size=4),
        st.lists(signs, min_size=8, max_size=8),
    ),
)


def brute_force(rows: Rows, query: Sequence[float], allowed: Sequence[bool], count: int) -> list[RankedRow]:
    """Every allowed row's inner product as an exact fraction; best first, then the smaller row."""
    scored = [
        (-sum(Fraction(float(x)) * Fraction(y) for x, y in zip(row, query, strict=True)), position)
        for position, row in enumerate(rows.tolist())
        if allowed[position]
    ]
    return [RankedRow(position, float(-negative)) for negative, position in sorted(scored)[:count]]


@given(way=ways, pool=st.lists(exact_vectors, min_size=1, max_size=5), query=exact_vectors, data=st.data())
def test_hits_equal_brute_force_with_massive_ties(
    way: str, pool: list[tuple[float, ...]], query: tuple[float, ...], data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, 150))
    count = data.draw(st.integers(1, size + 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = np.asarray(pool, dtype=np.float32)[rng.integers(len(pool), size=size)]
    allowed = rng.random(size) < data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    present = rng.random(size) < 0.8
    hits = ranked(way, table_of(rows, present), np.asarray(query), allowed, count)
    assert hits == brute_force(rows, query, (allowed & present).tolist(), count)


@given(way=ways, data=st.data())
def test_hits_of_any_vectors_are_the_best_in_order(way: str, data: st.DataObject) -> None:
    """With rounding in play: scores are right to the last digits, in order, and no better row is left out."""
    dimension = data.draw(st.sampled_from([1, 2, 3, 7, 8, 9, 129]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    pool = unit_rows(rng.standard_normal((data.draw(st.integers(1, 40)), dimension)))
    rows = pool[rng.integers(len(pool), size=data.draw(st.integers(1, 150)))]
    # Tiny differences: rows that single precision can hardly tell apart.
    rows = unit_rows(rows + rng.choice([0.0, 1e-7], size=rows.shape))
    query = unit_vector(rng.standard_normal(dimension))
    allowed = rng.random(len(rows)) < 0.7
    count = data.draw(st.integers(1, 60))
    hits = ranked(way, table_of(rows), query, allowed, count)
    exact = {
        row: math.fsum((rows[row].astype(np.float64) * query).tolist()) for row in np.flatnonzero(allowed).tolist()
    }
    assert len(hits) == min(count, len(exact))
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.row))
    for hit in hits:
        assert hit.score == pytest.approx(min(max(exact[hit.row], -1.0), 1.0), rel=0, abs=1e-14)
    left_out = set(exact) - {hit.row for hit in hits}
    assert all(exact[row] <= hits[-1].score + 1e-14 for row in left_out)
    for row in left_out:
        twins = [hit.row for hit in hits if rows[hit.row].tobytes() == rows[row].tobytes()]
        assert all(twin < row for twin in twins)


@given(data=st.data())
def test_a_rows_score_is_the_same_bits_whatever_it_is_scored_with(data: st.DataObject) -> None:
    # Around the block sizes of vectorised and pairwise summation, where a sum's order could depend on the shape.
    dimension = data.draw(st.integers(1, 20) | st.sampled_from([31, 64, 127, 128, 129, 255, 256, 257, 384, 1_025]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = unit_rows(rng.standard_normal((data.draw(st.integers(1, 40)), dimension)))
    query = unit_vector(rng.standard_normal(dimension))
    table = table_of(rows)
    together = similarities(table, np.arange(len(rows)), query)
    some = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=12))
    assert similarities(table, np.asarray(some), query).tobytes() == together[some].tobytes()
    alone = [similarities(table, np.asarray([row]), query)[0] for row in some]
    assert np.asarray(alone).tobytes() == together[some].tobytes()


def test_many_rows_hits_equal_brute_force_and_those_of_an_index_without_the_rest() -> None:
    """6,000 rows of which 4,000 are allowed. The same rows alone give the same bits."""
    rng = np.random.default_rng(11)
    pool = unit_rows(rng.standard_normal((50, 384)))
    # Half the rows are copies of fifty, so that the last place falls into a tie of about sixty.
    rows = np.concatenate([pool[rng.integers(50, size=3_000)], unit_rows(rng.standard_normal((3_000, 384)))])
    rows = rows[rng.permutation(6_000)]
    allowed = np.zeros(6_000, dtype=np.bool_)
    allowed[rng.permutation(6_000)[:4_000]] = True
    query = unit_vector(pool[0].astype(np.float64) + 0.4 * rng.standard_normal(384) / math.sqrt(384))
    table = table_of(rows)
    whole = similarities(table, np.flatnonzero(allowed), query)
    order = sorted(zip((-whole).tolist(), np.flatnonzero(allowed).tolist(), strict=True))
    trimmed = table_of(rows[allowed])
    places = np.flatnonzero(allowed)
    for count in (1, 10, 30, 61, 100, 1_000, 2_500):
        hits = listed(rank_by_similarity(table, query, allowed, count).hits)
        assert hits == [RankedRow(row, -negative) for negative, row in order[:count]]
        alone = listed(rank_by_similarity(trimmed, query, np.ones(4_000, dtype=np.bool_), count).hits)
        assert [RankedRow(int(places[hit.row]), hit.score) for hit in alone] == hits


def test_thousands_of_equal_rows_come_in_the_order_of_their_ids() -> None:
    rows = np.repeat(unit_rows([[1.0, 2.0, 3.0]]), 5_000, axis=0)
    allowed = np.ones(5_000, dtype=np.bool_)
    allowed[::3] = False
    query = unit_vector(np.asarray([3.0, 2.0, 1.0]))
    hits = listed(rank_by_similarity(table_of(rows), query, allowed, 20).hits)
    assert [hit.row for hit in hits] == np.flatnonzero(allowed)[:20].tolist()
    assert len({hit.score for hit in hits}) == 1


@given(
    vector=st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=40).filter(any),
    scale=st.sampled_from([1.0, 2.0**-140, 2.0**140, 2.0**800]),
)
def test_a_query_of_any_length_becomes_a_unit_vector(vector: list[float], scale: float) -> None:
    scaled = np.asarray(vector, dtype=np.float64) * scale
    if not scaled.any():
        return
    unit = unit_vector(scaled)
    assert math.fsum(x * x for x in unit.tolist()) == pytest.approx(1.0, abs=1e-12)
    largest = int(np.argmax(np.abs(scaled)))
    assert np.sign(unit[largest]) == np.sign(scaled[largest])


@pytest.mark.parametrize("rows", [[[1.0, 1.0]], [[1.0, 1.0, 1.0, 1.0, 1.0]]])
def test_similarity_never_exceeds_one(rows: list[list[float]]) -> None:
    table = table_of(unit_rows(rows))
    query = unit_vector(np.asarray(rows[0]))
    assert 0.999999 < similarities(table, np.asarray([0]), query)[0] <= 1.0
    assert -1.0 <= similarities(table, np.asarray([0]), -query)[0] < -0.999999


def test_nothing_allowed_gives_nothing() -> None:
    table = table_of(unit_rows([[1.0, 0.0], [0.0, 1.0]]))
    query = unit_vector(np.asarray([1.0, 0.0]))
    assert len(rank_by_similarity(table, query, np.zeros(2, dtype=np.bool_), 5).hits) == 0
