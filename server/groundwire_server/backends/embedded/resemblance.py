"""How much nodes resemble each other: cosine similarity of their vectors."""

from collections.abc import Sequence

import numpy as np

from groundwire_server.backends.embedded.known_rows import KnownRows
from groundwire_server.backends.embedded.semantic import similarities
from groundwire_server.index.vectors import VectorTable


def similarities_to(vectors: VectorTable, known: KnownRows, id_: str, others: Sequence[str]) -> list[float]:
    """Cosine similarity of a node to each of others; 0 where one is hidden, absent or without a vector."""
    rows = known.of([id_, *others])
    places = [place for place, other in enumerate(others) if other in rows and vectors.present[rows[other]]]
    cosines = np.zeros(len(others), dtype=np.float64)
    if id_ in rows and vectors.present[rows[id_]]:
        compared = np.asarray([rows[others[place]] for place in places], dtype=np.int64)
        cosines[places] = similarities(vectors, compared, vectors.rows[rows[id_]].astype(np.float64))
    return cosines.tolist()
