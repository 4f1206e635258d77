"""BM25 of one document and one term; what N, df and the mean length are, each backend says.

The variant is Lucene's: `idf(t) * f / (f + k1 * (1 - b + b * length / mean))` with
`idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5))`; N, df and the mean length count visible documents only
(Robertson and Zaragoza 2009; Kamphuis et al. 2020, "Which BM25 do you mean?").
"""

import math

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.bm25_parameters import K1, B

MAX_FILE_NODES = 2_000
"""A document of which the caller sees more nodes is no file that people read as one; it has no score."""


def term_scores(
    weight: float, frequencies: NDArray[np.float64], relative_lengths: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What a term adds to documents [m], below its weight, by how often each holds it and its length over the mean."""
    scores: NDArray[np.float64] = weight * frequencies / (frequencies + K1 * (1.0 - B + B * relative_lengths))
    return scores


def inverse_document_frequency(documents: int, document_frequency: int) -> float:
    """Lucene's idf; above 0 for every document frequency up to the number of documents."""
    return math.log(1.0 + (documents - document_frequency + 0.5) / (document_frequency + 0.5))
