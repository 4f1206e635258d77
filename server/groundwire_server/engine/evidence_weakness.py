"""Whether evidence answers its question at all: how near the best match is, and how many of the words it has."""

from collections.abc import Sequence

import numpy as np

from groundwire.evidence.question_words import stems
from groundwire_index.nodes.node import Node
from groundwire_server.domain.evidence.evidence import EvidenceRequest, Weakness
from groundwire_server.domain.search.search import Retriever
from groundwire_server.engine.stages import Ranked

_SIMILAR = 0.28
"""The least similarity of a match that answers; `docs/quality.md` says how it was chosen."""
_WORDS = 0.6
"""A match with this share of the words answers, whatever its similarity."""
_LOOKED_AT = 5


def weakness_of(request: EvidenceRequest, ranked: Ranked, nodes: Sequence[Node]) -> Weakness | None:
    """Why the matches do probably not answer; None if they do. `nodes` are the matches, best first."""
    asked = stems(request.text)
    words = max((len(asked & stems(node.text)) / max(len(asked), 1) for node in nodes[:_LOOKED_AT]), default=0.0)
    dense = ranked.candidates.by_retriever.get(Retriever.DENSE)
    similarity = None
    if dense is not None and len(ranked.order):
        similarity = float(np.nan_to_num(dense.scores[ranked.order], nan=-1.0).max())
    if not nodes:
        return Weakness("nothing matches", similarity, words)
    if words >= _WORDS or similarity is None or similarity >= _SIMILAR:
        return None
    return Weakness(
        f"the best match has a similarity of {similarity:.2f} to the question and {words:.0%} of its words",
        similarity,
        words,
    )
