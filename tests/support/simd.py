"""Runs FAISS on each of the instruction sets that this processor has."""

from collections.abc import Iterator
from contextlib import contextmanager

import faiss

INSTRUCTION_SETS = tuple(
    level for level in range(faiss.SIMDLevel_COUNT) if faiss.SIMDConfig.is_simd_level_available(level)
)


@contextmanager
def instruction_set(level: int) -> Iterator[None]:
    """FAISS uses one instruction set; in this whole process."""
    usual_level = faiss.SIMDConfig.get_level()
    faiss.SIMDConfig.set_level(level)
    try:
        yield
    finally:
        faiss.SIMDConfig.set_level(usual_level)
