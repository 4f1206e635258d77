"""Which sources count how much for which query: the weights of an adaptive fusion."""

from collections.abc import Mapping, Sequence
from math import fsum

from groundwire_server.domain.query import QueryClass, Source

ADAPTIVE_WEIGHTS: Mapping[QueryClass, Mapping[Source, float]] = {
    QueryClass.IDENTIFIER: {
        Source.DENSE: 0.05,
        Source.BM25_CODE: 0.2,
        Source.BM25_NLP: 0.05,
        Source.TRIGRAM: 0.7,
    },
    QueryClass.QUOTED: {
        Source.DENSE: 0.1,
        Source.BM25_CODE: 0.6,
        Source.BM25_NLP: 0.15,
        Source.TRIGRAM: 0.15,
    },
    QueryClass.PATH: {
        Source.DENSE: 0.05,
        Source.BM25_CODE: 0.2,
        Source.BM25_NLP: 0.05,
        Source.TRIGRAM: 0.7,
    },
    QueryClass.NATURAL_LANGUAGE: {
        Source.DENSE: 0.75,
        Source.BM25_CODE: 0.15,
        Source.BM25_NLP: 0.1,
        Source.TRIGRAM: 0.0,
    },
    QueryClass.MIXED: {
        Source.DENSE: 0.4,
        Source.BM25_CODE: 0.3,
        Source.BM25_NLP: 0.1,
        Source.TRIGRAM: 0.2,
    },
}
"""Each row is for a query that asks every source. How the rows were chosen is told in `docs/quality.md`."""


def adaptive_weights(query_class: QueryClass, sources: Sequence[Source]) -> tuple[tuple[Source, float], ...]:
    """The weights of the asked sources, in the order of `sources`, scaled to sum to 1; equal where all would be 0."""
    weights = [ADAPTIVE_WEIGHTS[query_class][source] for source in sources]
    total = fsum(weights)
    if total == 0.0:
        return tuple((source, 1.0 / len(sources)) for source in sources)
    return tuple((source, weight / total) for source, weight in zip(sources, weights, strict=True))
