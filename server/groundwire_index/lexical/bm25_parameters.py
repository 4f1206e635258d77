"""The parameters of BM25, which scoring and what an index stores for it share.

A term that a document holds `f` times weighs `f / (f + K1 * (1 - B + B * length / mean length))` of its idf.
"""

from typing import Final

K1: Final = 1.5
B: Final = 0.75
