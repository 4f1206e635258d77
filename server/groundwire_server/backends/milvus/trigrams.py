"""The trigram retriever: nodes by their names, so that a name with a typo is found."""

import math
from collections.abc import Sequence

import numpy as np

from groundwire_index.milvus.packing import unpacked_names
from groundwire_index.milvus.rows import Rows
from groundwire_index.text.names import trigrams
from groundwire_server.backends.milvus.version import OpenVersion
from groundwire_server.backends.shared.listing import EPSILON, POSITIVE, Proposal
from groundwire_server.backends.shared.scoring import name_similarity
from groundwire_server.domain.search.candidates import Floats


class Trigrams:
    """The greatest similarity of a node's names to those of a query; `fields` and `least` as in `Words`."""

    fields = ("names",)

    def __init__(self, version: OpenVersion, allowed: str, wanted: Sequence[frozenset[str]], threshold: float) -> None:
        """`wanted` are the trigrams of each name that the query mentions."""
        self._version = version
        self._allowed = allowed
        self._wanted = wanted
        self.least = max(threshold, POSITIVE)
        self._similarities: dict[str, float] = {}
        numbers = [[version.trigram(trigram) for trigram in sorted(name)] for name in wanted]
        known = [{number: 1.0 for number in of_name if number is not None} for of_name in numbers]
        # Of each wanted name that shares a trigram with a name of the index: its size, and these trigrams.
        self._queries = [(len(name), query) for name, query in zip(wanted, known, strict=True) if query]

    def margin(self, count: int) -> int:
        """The number of rows requested on top of `count`, so that one request is usually enough."""
        return 32 + count

    def propose(self, first: int, end: int, limit: int) -> Proposal:
        """The `limit` rows of a range that Milvus scores highest, or a few more."""
        found = self._version.store.search(
            self._version.collections.nodes,
            "trigrams",
            [query for _, query in self._queries],
            limit,
            self._version.within(self._allowed, first, end),
        )
        rests = [
            _most_similar(size, len(query), hits.rest(limit, end - first))
            for hits, (size, query) in zip(found, self._queries, strict=True)
        ]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *(hits.rows for hits in found)])
        return Proposal(rows, max(rests, default=-np.inf))

    def scores(self, nodes: Rows) -> Floats:
        """The exact scores of nodes [m], from the fields that were read."""
        names = list(map(unpacked_names, nodes.strings("names")))
        self._compare({name for of_node in names for name in of_node} - self._similarities.keys())
        best = (max((self._similarities[name] for name in of_node), default=0.0) for of_node in names)
        return np.fromiter(best, dtype=np.float64, count=len(names))

    def _compare(self, names: set[str]) -> None:
        held = {name: trigrams(name) for name in names}
        sizes = np.asarray([len(of_name) for of_name in held.values()], dtype=np.int64)
        best = np.zeros(len(held))
        for wanted in self._wanted:
            common = np.asarray([len(wanted & of_name) for of_name in held.values()], dtype=np.int64)
            np.maximum(best, name_similarity(len(wanted), common, sizes), out=best)
        self._similarities.update(zip(held, best.tolist(), strict=True))


def _most_similar(size: int, terms: int, proposed: float) -> float:
    """How similar a name may be to one of `size` trigrams when its node scores no higher than `proposed`.

    A trigram weighs 1 / sqrt(n) of the smallest name, of n trigrams, that holds it. So for every name of a node, its
    score over sqrt(size) is at least the cosine c / sqrt(size * n), where c trigrams are shared. Since size + n is at
    least 2 * sqrt(size * n), the similarity c / (size + n - c) is at most cosine / (2 - cosine).
    """
    if proposed == -np.inf:
        return proposed
    cosine = min(1.0, proposed * (1.0 + (terms + 16) * EPSILON) / math.sqrt(size))
    return cosine / (2.0 - cosine) * (1.0 + 4 * EPSILON)
