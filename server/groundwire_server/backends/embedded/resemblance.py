"""How much nodes resemble each other: cosine similarity of their vectors."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_index.vectors.vectors import VectorTable
from groundwire_server.backends.embedded.known_rows import KnownRows
from groundwire_server.backends.embedded.semantic import cosines
from groundwire_server.backends.interface import Resemblance


def resemblance(vectors: VectorTable, known: KnownRows, ids: Sequence[str]) -> Resemblance:
    """The resemblance of nodes, whose vectors are read once however often it is asked."""
    rows = known.of(ids)
    places = [place for place, id_ in enumerate(ids) if id_ in rows and vectors.present[rows[id_]]]
    compared = vectors.rows[[rows[ids[place]] for place in places]].astype(np.float64)
    compared_at = dict(zip(places, range(len(places)), strict=True))

    def to_each(place: int) -> NDArray[np.float64]:
        similarities = np.zeros(len(ids), dtype=np.float64)
        if place in compared_at:
            similarities[places] = cosines(compared, compared[compared_at[place]])
        return similarities

    return to_each
