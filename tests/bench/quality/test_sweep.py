"""Trying weights on scores that the server gave must be what the server does with these weights."""

import math
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bench.quality.plot import write_sweep_plot
from bench.quality.reproduce import write_sweep
from bench.quality.sweep import CODE_SHARE, DENSE_WEIGHTS, LEXICAL, Curve, by_maximum, pool_of, sweep
from groundwire_client import StageScores
from groundwire_server.domain.search.candidates import Candidates
from groundwire_server.domain.search.search import Retriever
from support.told import Place, candidates_of, fuse_by_weight

SOURCES = (Retriever.DENSE, Retriever.BM25_CODE, Retriever.BM25_PROSE)
Row = tuple[float | None, float, float]


def stages(row: Row) -> StageScores:
    dense, code, prose = row
    return StageScores(dense=dense, bm25_code=code, bm25_prose=prose, trigram=0.0, boost=1.0)


def named(rows: Sequence[Row]) -> dict[str, StageScores]:
    return {f"n{number:03}": stages(row) for number, row in enumerate(rows)}


def drawn_rows(count: int, seed: int) -> list[Row]:
    generator = random.Random(seed)
    return [
        (
            None if generator.random() < 0.1 else generator.uniform(-0.2, 0.9),
            max(0.0, generator.gauss(3.0, 4.0)),
            max(0.0, generator.gauss(2.0, 3.0)),
        )
        for _ in range(count)
    ]


def test_a_pool_holds_what_a_list_of_a_hundred_holds() -> None:
    """A dense list begins at min_sim, a lexical one above 0; the others are nobody's proposal."""
    rows: list[Row] = [(0.9 - 0.001 * number, 0.0, 0.0) for number in range(101)]
    rows += [(0.1, 0.0, 0.0), (0.0, 2.0, 0.0), (None, 0.0, 1.0)]
    pool = pool_of(named(rows), frozenset(), is_held_out=False)
    assert pool.ids == tuple(f"n{number:03}" for number in [*range(100), 102, 103])
    assert pool.columns[0][-2:] == (0.0, None)


@pytest.mark.parametrize("seed", range(5))
def test_the_lead_at_a_weight_is_what_the_product_gives(seed: int) -> None:
    rows = drawn_rows(60, seed)
    ids = [f"n{number:03}" for number in range(len(rows))]
    weights = (0.75, 0.25 * CODE_SHARE, 0.25 * (1 - CODE_SHARE))
    fused = fuse_by_weight(_candidates(rows), dict(zip(SOURCES, weights, strict=True)))
    for rank, entry in enumerate(fused[:10], start=1):
        pool = pool_of(named(rows), frozenset({ids[entry.position]}), is_held_out=False)
        lead = next(curve for curve in sweep([pool]) if curve.normalisation == "by lead")
        gained = lead.ndcg_10[DENSE_WEIGHTS.index(0.75)]
        assert gained == pytest.approx(1 / math.log2(rank + 1))


def _candidates(rows: list[Row]) -> Candidates:
    columns: list[list[Place | None]] = []
    for column, floor in zip(zip(*rows, strict=True), (0.15, 1e-300, 1e-300), strict=True):
        above = [(-score, position) for position, score in enumerate(column) if score is not None and score >= floor]
        ranks = {position: rank for rank, (_, position) in enumerate(sorted(above), start=1)}
        columns.append([None if s is None else Place(s, ranks.get(position)) for position, s in enumerate(column)])
    return candidates_of(dict(zip(SOURCES, columns, strict=True)))


def test_the_plain_normalisation_divides_by_the_highest() -> None:
    assert by_maximum(np.asarray([2.0, 4.0, 0.0])).tolist() == [0.5, 1.0, 0.0]
    assert by_maximum(np.zeros(2)).tolist() == [0.0, 0.0]
    assert by_maximum(np.zeros(0)).tolist() == []


def test_all_weight_on_the_dense_source_is_the_dense_order_under_every_normalisation() -> None:
    rows: list[Row] = [(0.3, 9.0, 9.0), (0.8, 0.0, 0.0), (0.5, 1.0, 1.0)]
    pool = pool_of(named(rows), frozenset({"n001"}), is_held_out=False)
    curves = sweep([pool])
    assert [curve.normalisation for curve in curves] == list(LEXICAL)
    assert [curve.ndcg_10[DENSE_WEIGHTS.index(1.0)] for curve in curves] == [1.0, 1.0]
    assert curves[0].ndcg_10[0] < 1.0


def test_the_weights_are_written_as_a_table_and_a_picture(tmp_path: Path) -> None:
    means = tuple(0.5 + 0.01 * number for number in range(len(DENSE_WEIGHTS)))
    curves = {"tiny, tuning": [Curve("by lead", means)], "tiny, held out": [Curve("by lead", means[::-1])]}
    write_sweep(tmp_path, curves)
    lines = (tmp_path / "weights.md").read_text(encoding="utf-8").splitlines()
    assert lines[2] == "| dense weight | tiny, tuning, by lead | tiny, held out, by lead |"
    assert lines[4] == "| 0.40 | 0.500 | 0.620 |"
    assert len(lines) == 4 + len(DENSE_WEIGHTS)
    write_sweep_plot(tmp_path / "again.png", curves)
    assert (tmp_path / "again.png").read_bytes() == (tmp_path / "weights.png").read_bytes()
