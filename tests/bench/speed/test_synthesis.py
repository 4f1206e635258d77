"""Synthetic corpora: they follow from their shape, and are shaped as they say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.speed.corpus import FILTERS, Corpus
from bench.speed.synthesis import VOCABULARY, Shape, words, write_corpus

SHAPE = Shape(nodes=300, dimension=16, policy_classes=7, queries=12)
"""That of the shared corpus."""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_shape_gives_the_same_bytes(corpus: Corpus, tmp_path: Path) -> None:
    again = write_corpus(tmp_path, SHAPE)
    assert contents(again.folder).items() <= contents(corpus.folder).items()  # true neighbours are added when asked for


def test_a_corpus_of_another_shape_is_written_anew(tmp_path: Path) -> None:
    first = write_corpus(tmp_path, SHAPE).text(0)
    kept = (tmp_path / "vectors.npy").stat().st_mtime_ns
    write_corpus(tmp_path, SHAPE)
    assert (tmp_path / "vectors.npy").stat().st_mtime_ns == kept
    assert write_corpus(tmp_path, replace(SHAPE, seed=6)).text(0) != first


def test_vectors_have_length_one(corpus: Corpus) -> None:
    for vectors in (corpus.vectors, corpus.query_vectors):
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", ["", *FILTERS])
def test_the_truth_is_that_of_a_sort_in_double_precision(corpus: Corpus, name: str) -> None:
    scores = corpus.query_vectors.astype(np.float64) @ corpus.vectors.astype(np.float64).T
    scores[:, ~corpus.mask(name)] = -np.inf
    nearest = np.argsort(-scores, axis=1, kind="stable")[:, : corpus.neighbours(name).shape[1]]
    assert (corpus.neighbours(name) == nearest).all()
    assert corpus.neighbours(name).shape[1] == min(10, int(corpus.mask(name).sum()))


@pytest.mark.parametrize("name", list(FILTERS))
def test_a_filter_passes_its_share_and_says_so_in_its_column(corpus: Corpus, name: str) -> None:
    passing = corpus.mask(name)
    assert passing.mean() == pytest.approx(FILTERS[name].passes, abs=1 / len(corpus))
    values = [corpus.value(FILTERS[name].column, row) for row in range(len(corpus))]
    assert [value == FILTERS[name].value for value in values] == passing.tolist()


def test_recall_is_the_share_of_true_neighbours(corpus: Corpus) -> None:
    truth = corpus.neighbours("").tolist()
    assert corpus.recall("", 0, truth) == 1.0
    assert corpus.recall("", 1, truth[1:]) == 1.0
    assert corpus.recall("", len(truth), truth) == 1.0  # queries are asked again and again
    assert corpus.recall("", 0, [truth[0][:5]]) == 0.5
    assert corpus.recall("", 0, [[], truth[1]]) == 0.5


def test_queries_ask_for_words_of_a_text(corpus: Corpus) -> None:
    texts = [set(corpus.text(row).split()) for row in range(len(corpus))]
    assert all(any(set(query.split()) <= text for text in texts) for query in corpus.query_texts)


def test_words_are_distinct() -> None:
    assert len(set(words(VOCABULARY))) == VOCABULARY


def test_edges_are_distinct_and_the_hub_has_half_of_all(corpus: Corpus) -> None:
    edges = corpus.edges
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert (edges[:, 0] != edges[:, 1]).all()
    assert int((edges[:, 0] == 0).sum()) == len(corpus) // 2


def test_policy_classes_are_in_range(corpus: Corpus) -> None:
    assert set(corpus.policy_classes.tolist()) <= set(range(SHAPE.policy_classes))
