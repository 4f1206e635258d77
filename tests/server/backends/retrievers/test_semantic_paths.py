"""Every path of a semantic search: the exact ones give the same bytes, the approximate one what it is defined as.

The definition is computed here anew, over the visible rows alone, so hidden rows have no say in it.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.vectors.vector_file import VectorTable
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.retrievers.semantic import (
    MEASURED,
    Nearest,
    PathLimits,
    rank_by_similarity,
    similarities,
)
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.query.query import HybridParameters, QueryRequest
from groundwire_server.domain.search.search import Retriever, SearchPath, SearchRequest, SearchType
from groundwire_server.query_embedding.query_vectors import unit_vector
from support import programs
from support.calls import never_stop
from support.codes import sign_estimates
from support.engines import engine_over
from support.index_writing import write_vectors
from support.ranked import listed
from support.semantic_paths import BYTES, DIRECT, PATHS, SIGNS, taking
from support.simd import INSTRUCTION_SETS, instruction_set

SCOPE = Scope("shop", "main", "v1")
QUERY = (0.3, 0.2, 0.1)
Mask = NDArray[np.bool_]
Rows = NDArray[np.float32]
Key = tuple[float, int]


def table_of(rows: Rows, present: Mask) -> VectorTable:
    with TemporaryDirectory() as directory:
        write_vectors(Path(directory), np.where(present[:, np.newaxis], rows, np.float32(0)), present)
        return VectorTable(Path(directory), *rows.shape)


def as_bytes(nearest: Nearest) -> tuple[list[int], bytes]:
    return nearest.hits.rows.tolist(), nearest.hits.scores.tobytes()


@st.composite
def corpora(draw: st.DrawFn) -> tuple[Rows, Mask, Mask, NDArray[np.float64]]:
    """Unit vectors [n, d] in clusters with copies and all but copies, who has one, who may be seen, and a query."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    dimension = draw(st.sampled_from([1, 2, 5, 8, 64, 100, 384]))
    count = draw(st.integers(1, 150))
    centres = rng.standard_normal((draw(st.integers(1, 12)), dimension))
    spread = draw(st.sampled_from([0.0, 1e-9, 1e-3, 0.1, 1.0]))
    rows = centres[rng.integers(len(centres), size=count)] + spread * rng.standard_normal((count, dimension))
    units = (rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True))).astype(np.float32)
    query = unit_vector(centres[0] + draw(st.sampled_from([0.0, 0.1, 3.0])) * rng.standard_normal(dimension))
    present = rng.random(count) < draw(st.sampled_from([0.8, 1.0]))
    allowed = rng.random(count) < draw(st.sampled_from([0.1, 0.6, 1.0]))
    return units, present, allowed, draw(st.sampled_from([1.0, -1.0])) * query


@given(corpus=corpora(), count=st.integers(1, 160))
def test_both_exact_paths_give_the_same_bytes(corpus: tuple[Rows, Mask, Mask, NDArray[np.float64]], count: int) -> None:
    rows, present, allowed, query = corpus
    table = table_of(rows, present)
    direct, coded = (rank_by_similarity(table, query, allowed, count, limits) for limits in (DIRECT, BYTES))
    assert as_bytes(direct) == as_bytes(coded)
    assert direct.exact
    assert coded.exact


def defined(keys: Sequence[Key], estimates: Sequence[float], count: int) -> list[Key]:
    """The hits of the approximate path: keys are (-similarity, row) of every visible row, with its estimate."""
    likeliest = [
        key for _, _, key in sorted((-estimate, key[1], key) for estimate, key in zip(estimates, keys, strict=True))
    ]
    best_keys: list[Key] = []
    for hits, width in [*((band.hits, band.width) for band in SIGNS.bands), (len(keys), len(keys))]:
        likely = sorted(likeliest[:width])
        later = [key for key in likely if not best_keys or key > best_keys[-1]]
        best_keys += later[: max(0, min(count, hits) - len(best_keys))]
    return best_keys[:count]


@given(corpus=corpora(), count=st.integers(1, 160))
def test_the_approximate_path_is_its_definition_over_the_visible_rows(
    corpus: tuple[Rows, Mask, Mask, NDArray[np.float64]], count: int
) -> None:
    rows, present, allowed, query = corpus
    table = table_of(rows, present)
    visible = np.flatnonzero(allowed & present)
    scores = similarities(table, visible, query).tolist()
    keys = [(-score, row) for score, row in zip(scores, visible.tolist(), strict=True)]
    nearest = rank_by_similarity(table, query, allowed, count, SIGNS)
    assert [(-hit.score, hit.row) for hit in listed(nearest.hits)] == defined(
        keys, sign_estimates(rows[visible], query), count
    )
    assert nearest.exact == (len(visible) == 0)


@given(corpus=corpora(), limits=st.sampled_from(PATHS), count=st.integers(1, 60))
def test_an_index_without_the_hidden_rows_gives_the_same_bytes(
    corpus: tuple[Rows, Mask, Mask, NDArray[np.float64]], limits: PathLimits, count: int
) -> None:
    rows, present, allowed, query = corpus
    visible = np.flatnonzero(allowed & present)
    everyone = np.ones(len(visible), dtype=np.bool_)
    alone = rank_by_similarity(table_of(rows[visible], everyone), query, everyone, count, limits)
    among = rank_by_similarity(table_of(rows, present), query, allowed, count, limits)
    own_rows, own_scores = as_bytes(alone)
    assert ([int(visible[row]) for row in own_rows], own_scores) == as_bytes(among)
    assert alone.exact == among.exact


@given(corpus=corpora(), limits=st.sampled_from(PATHS), counts=st.tuples(*[st.integers(1, 160)] * 2))
def test_fewer_hits_are_a_prefix_of_more(
    corpus: tuple[Rows, Mask, Mask, NDArray[np.float64]], limits: PathLimits, counts: tuple[int, int]
) -> None:
    rows, present, allowed, query = corpus
    table = table_of(rows, present)
    fewer, more = (listed(rank_by_similarity(table, query, allowed, count, limits).hits) for count in sorted(counts))
    assert more[: len(fewer)] == fewer
    assert len(fewer) == min(min(counts), len(more))
    assert more == sorted(more, key=lambda hit: (-hit.score, hit.row))


def test_bands_ascend_and_the_first_is_wider_than_the_last_has_hits() -> None:
    """Else a band could run out of rows before it has its hits."""
    bands = MEASURED.bands
    assert bands[0].width > bands[-1].hits
    assert all(low.hits < high.hits and low.width < high.width for low, high in pairwise(bands))
    assert MEASURED.direct_rows < MEASURED.exact_rows


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_recall_of_the_measured_limits(share: float) -> None:
    """Clusters that fill every direction evenly are the hardest of the usual ones."""
    rng = np.random.default_rng(5)
    centres = unit_rows(rng.standard_normal((400, 384)))
    rows = unit_rows(centres[rng.integers(400, size=200_000)] + rng.standard_normal((200_000, 384)) / np.sqrt(384))
    allowed = rng.random(len(rows)) < share
    table = table_of(rows, np.ones(len(rows), dtype=np.bool_))
    recalls = []
    for _ in range(30):
        query = unit_vector(centres[rng.integers(400)] + rng.standard_normal(384) / np.sqrt(384))
        truth = rank_by_similarity(table, query, allowed, 10, BYTES)
        approximate = rank_by_similarity(table, query, allowed, 10)
        assert truth.exact
        assert not approximate.exact
        recalls.append(len({*truth.hits.rows.tolist()} & {*approximate.hits.rows.tolist()}) / 10)
    assert np.mean(recalls) >= 0.99


@given(corpus=corpora(), limits=st.sampled_from(PATHS), count=st.integers(1, 60))
def test_every_instruction_set_gives_the_same_bytes(
    corpus: tuple[Rows, Mask, Mask, NDArray[np.float64]], limits: PathLimits, count: int
) -> None:
    rows, present, allowed, query = corpus
    table = table_of(rows, present)
    answers = set()
    for level in INSTRUCTION_SETS:
        with instruction_set(level):
            hit_rows, scores = as_bytes(rank_by_similarity(table, query, allowed, count, limits))
        answers.add((tuple(hit_rows), scores))
    assert len(answers) == 1


def test_processors_of_other_instruction_sets_make_the_same_files_and_give_the_same_bytes(tmp_path: Path) -> None:
    """Those of numpy and of its linear algebra too, which are chosen when they are loaded."""
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    least = {
        "FAISS_SIMD_LEVEL": "NONE",
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "OPENBLAS_CORETYPE": "Prescott",
    }
    digests = {}
    for threads, variables in (("1", {}), ("2", least)):
        folder = tmp_path / threads
        folder.mkdir()
        level, digest = programs.output("search_digest", folder, OMP_NUM_THREADS=threads, **variables).split()
        digests[level] = digest
    assert "NONE" in digests
    assert len({*digests.values()}) == 1


def unit_rows(rows: NDArray[np.floating]) -> Rows:
    units: Rows = (rows / np.sqrt(np.square(rows).sum(axis=1, keepdims=True))).astype(np.float32)
    return units


@pytest.mark.parametrize(("limits", "exact"), [(DIRECT, True), (BYTES, True), (SIGNS, False)])
def test_an_answer_says_whether_it_is_exact(
    limits: PathLimits,
    exact: bool,
    make_node: Callable[..., Node],
    open_backend: Callable[..., AbstractContextManager[EmbeddedBackend]],
) -> None:
    nodes = [make_node(f"N{number:02}", "word") for number in range(30)]
    vectors = np.random.default_rng(4).standard_normal((30, 3)).tolist()
    with open_backend(nodes, vectors=vectors) as backend, taking(limits):
        engine = engine_over(backend)
        for search_type in (SearchType.SEMANTIC, SearchType.HYBRID):
            search = SearchRequest(SCOPE, AccessContext(), search_type, "word", 3, query_vector=QUERY, explain=True)
            result = engine.search(search, never_stop)
            assert result.exact is exact
            assert result.debug is not None
            assert result.debug.path is (SearchPath.EXACT if exact else SearchPath.APPROXIMATE)
        assert engine.search(SearchRequest(SCOPE, AccessContext(), SearchType.BM25, "word", 3), never_stop).exact
        request = QueryRequest(SCOPE, AccessContext(), "word", datetime(2026, 1, 1, tzinfo=UTC), query_vector=QUERY)
        request = replace(request, hybrid=HybridParameters(vec_limit=5, top_k=3))
        assert engine.query(request, never_stop).meta.exact is exact
        words = replace(request, query_vector=(), retrievers=(Retriever.BM25_CODE,))
        assert engine.query(words, never_stop).meta.exact
