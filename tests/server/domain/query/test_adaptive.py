"""The weights of an adaptive fusion: a row a class, scaled to the sources that are asked."""

from itertools import combinations
from math import fsum

import pytest

from groundwire_server.domain.query.adaptive import ADAPTIVE_WEIGHTS, adaptive_weights
from groundwire_server.domain.query.query import QueryClass
from groundwire_server.domain.search.search import Retriever

CHOICES = [chosen for size in range(1, 5) for chosen in combinations(Retriever, size)]


@pytest.mark.parametrize("query_class", QueryClass)
def test_every_class_weighs_every_source_and_all_sum_to_one(query_class: QueryClass) -> None:
    row = ADAPTIVE_WEIGHTS[query_class]
    assert set(row) == set(Retriever)
    assert all(0.0 <= weight <= 1.0 for weight in row.values())
    assert fsum(row.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("query_class", QueryClass)
@pytest.mark.parametrize("sources", CHOICES)
def test_the_asked_sources_share_one_in_the_proportions_of_their_row(
    query_class: QueryClass, sources: tuple[Retriever, ...]
) -> None:
    weights = adaptive_weights(query_class, sources)
    assert tuple(source for source, _ in weights) == sources
    assert fsum(weight for _, weight in weights) == pytest.approx(1.0)
    row = ADAPTIVE_WEIGHTS[query_class]
    if any(row[source] for source in sources):
        for first, first_weight in weights:
            for second, second_weight in weights:
                assert first_weight * row[second] == pytest.approx(second_weight * row[first])


def test_sources_that_would_all_weigh_nothing_weigh_the_same() -> None:
    row = {Retriever.DENSE: 1.0, Retriever.BM25_CODE: 0.0, Retriever.BM25_PROSE: 0.0, Retriever.TRIGRAM: 0.0}
    rows = {QueryClass.MIXED: row}
    assert adaptive_weights(QueryClass.MIXED, [Retriever.TRIGRAM], rows) == ((Retriever.TRIGRAM, 1.0),)
    assert adaptive_weights(QueryClass.MIXED, [Retriever.BM25_CODE, Retriever.TRIGRAM], rows) == (
        (Retriever.BM25_CODE, 0.5),
        (Retriever.TRIGRAM, 0.5),
    )


def test_what_is_asked_decides_the_weights() -> None:
    """Names want their letters compared, sentences their meaning."""
    words = dict(adaptive_weights(QueryClass.NATURAL_LANGUAGE, list(Retriever)))
    name = dict(adaptive_weights(QueryClass.IDENTIFIER, list(Retriever)))
    assert words[Retriever.DENSE] > name[Retriever.DENSE]
    assert words[Retriever.TRIGRAM] < name[Retriever.TRIGRAM]
