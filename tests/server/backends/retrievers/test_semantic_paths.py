"""Every path of a semantic search: the exact ones give the same bytes, the approximate one what it is defined as.

The definition is computed here anew, over the visible rows alone, so hidden rows have no say in it.
"""

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.vectors.rotation import rotated
from groundwire_index.vectors.vectors import VectorTable
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
from support.calls import never_stop
from support.engines import engine_over
from support.index_writing import write_vectors
from support.ranked import listed
from support.semantic_paths import BYTES, DIRECT, PATHS, SIGNS, taking

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


@settings(max_examples=400)
@given(corpus=corpora(), count=st.integers(1, 160))
def test_both_exact_paths_give_the_same_bytes(corpus: tuple[Rows, Mask, Mask, NDArray[np.float64]], count: int) -> None:
    rows, present, allowed, query = corpus
    table = table_of(rows, present)
    direct, coded = (rank_by_similarity(table, query, allowed, count, limits) for limits in (DIRECT, BYTES))
    assert as_bytes(direct) == as_bytes(coded)
    assert direct.exact
    assert coded.exact


def agreements_of(rows: Rows, query: NDArray[np.float64]) -> list[int]:
    """The sum of the weights of the components in whose sign a row and the query agree, by the definition."""
    components = rotated(query[np.newaxis, :])[0]
    step = 2.0 / (3 * np.sqrt(len(query)))
    weights = [min(round(abs(component) / step), 3) for component in components.tolist()]
    return [
        sum(
            weight
            for weight, component, own in zip(weights, components.tolist(), turned, strict=True)
            if (component >= 0) == (own >= 0)
        )
        for turned in rotated(rows).tolist()
    ]


def defined(keys: Sequence[Key], agreements: Sequence[int], count: int) -> list[Key]:
    """The hits of the approximate path: keys are (-similarity, row) of every visible row, with its agreement."""
    found: list[Key] = []
    for hits, width in [*((band.hits, band.width) for band in SIGNS.bands), (len(keys), len(keys))]:
        last = sorted(agreements)[-width] if 0 < width <= len(agreements) else 0
        likely = sorted(key for key, agreement in zip(keys, agreements, strict=True) if agreement >= last)
        later = [key for key in likely if not found or key > found[-1]]
        found += later[: max(0, min(count, hits) - len(found))]
    return found[:count]


@settings(max_examples=400)
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
        keys, agreements_of(rows[visible], query), count
    )
    assert nearest.exact == (len(visible) == 0)


@settings(max_examples=200)
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


@settings(max_examples=200)
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
        found = rank_by_similarity(table, query, allowed, 10)
        assert truth.exact
        assert not found.exact
        recalls.append(len({*truth.hits.rows.tolist()} & {*found.hits.rows.tolist()}) / 10)
    assert np.mean(recalls) >= 0.99


COMPILED_AHEAD = """
import sys
from pathlib import Path
import numpy as np
from groundwire_index.vectors import quantised_scan, quantised_query
from groundwire_server.backends.embedded.retrievers import semantic
from groundwire_index.vectors.vector_file import VectorFile
from groundwire_index.vectors.vectors import VectorTable

quantised_query.compile_ahead()
loops = [quantised_scan.similarity_bounds, quantised_scan.most_agreeing]
assert [len(loop.signatures) for loop in loops] == [1, 1]
rows = np.eye(100, dtype=np.float32)
with VectorFile(Path(sys.argv[1]), *rows.shape) as file:
    file.put(np.arange(len(rows)), rows)
limits = semantic.PathLimits(0, 0, semantic.MEASURED.bands)
everyone = np.ones(100, dtype=np.bool_)
semantic.rank_by_similarity(VectorTable(Path(sys.argv[1]), 100, 100), rows[0].astype(float), everyone, 3, limits)
assert [len(loop.signatures) for loop in loops] == [1, 1]
"""


def test_what_is_compiled_ahead_is_what_an_index_needs(tmp_path: Path) -> None:
    """Else the first callers of a server would wait for seconds."""
    subprocess.run([sys.executable, "-c", COMPILED_AHEAD, tmp_path], check=True)


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
        asked = QueryRequest(SCOPE, AccessContext(), "word", datetime(2026, 1, 1, tzinfo=UTC), query_vector=QUERY)
        asked = replace(asked, hybrid=HybridParameters(vec_limit=5, top_k=3))
        assert engine.query(asked, never_stop).meta.exact is exact
        words = replace(asked, query_vector=(), retrievers=(Retriever.BM25_CODE,))
        assert engine.query(words, never_stop).meta.exact
