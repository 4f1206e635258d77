"""Which retrievers count how much for which query: the weights of an adaptive fusion."""

from collections.abc import Mapping, Sequence
from math import fsum

from groundwire_server.domain.query.query import QueryClass
from groundwire_server.domain.search.search import Retriever

ADAPTIVE_WEIGHTS: Mapping[QueryClass, Mapping[Retriever, float]] = {
    query_class: dict(zip(Retriever, weights, strict=True))
    for query_class, weights in {
        # In the order of the enum: dense, BM25 over code, BM25 over prose, trigram.
        QueryClass.IDENTIFIER: (0.05, 0.2, 0.05, 0.7),
        QueryClass.QUOTED: (0.1, 0.6, 0.15, 0.15),
        QueryClass.PATH: (0.05, 0.2, 0.05, 0.7),
        QueryClass.NATURAL_LANGUAGE: (0.75, 0.15, 0.1, 0.0),
        QueryClass.MIXED: (0.4, 0.3, 0.1, 0.2),
    }.items()
}
"""Each row is for a query that asks every retriever. `docs/quality.md` says how the rows were chosen."""


def adaptive_weights(
    query_class: QueryClass,
    retrievers: Sequence[Retriever],
    rows: Mapping[QueryClass, Mapping[Retriever, float]] = ADAPTIVE_WEIGHTS,
) -> tuple[tuple[Retriever, float], ...]:
    """The weights of the asked retrievers, in their order, scaled to sum to 1; equal where all would be 0."""
    weights = [rows[query_class][retriever] for retriever in retrievers]
    total = fsum(weights)
    if total == 0.0:
        return tuple((retriever, 1.0 / len(retrievers)) for retriever in retrievers)
    return tuple((retriever, weight / total) for retriever, weight in zip(retrievers, weights, strict=True))
