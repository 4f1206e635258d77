"""How similar two names are: PostgreSQL's pg_trgm, the size of the intersection of their trigrams over the union's."""

import numpy as np
from numpy.typing import NDArray


def name_similarity(size: int, common: NDArray[np.integer], sizes: NDArray[np.integer]) -> NDArray[np.float64]:
    """The similarity, in [0, 1], of names [m] of so many trigrams, of which `common` are those of a name of `size`."""
    shared = common.astype(np.int64)
    similarity: NDArray[np.float64] = shared / (size + sizes - shared)
    return similarity
