"""Makes semantic search take a path that it takes for more nodes than tests have."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from groundwire_server.backends.embedded.retrievers import retrieval
from groundwire_server.backends.embedded.retrievers.semantic import Band, PathLimits, rank_by_similarity

DIRECT = PathLimits(direct_rows=1 << 30, exact_rows=1 << 30, bands=())
BYTES = PathLimits(direct_rows=0, exact_rows=1 << 30, bands=())
SIGNS = PathLimits(direct_rows=0, exact_rows=0, bands=(Band(2, 9), Band(5, 20), Band(8, 40)))
NARROW_SIGNS = PathLimits(direct_rows=0, exact_rows=0, bands=(Band(1, 3), Band(2, 4)))
"""So narrow that hits are missed among a few nodes."""
EXACT_PATHS = (DIRECT, BYTES)
PATHS = (DIRECT, BYTES, SIGNS, NARROW_SIGNS)


@contextmanager
def taking(limits: PathLimits) -> Iterator[None]:
    """Every search of the embedded backend goes by these limits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "rank_by_similarity", partial(rank_by_similarity, limits=limits))
        yield
