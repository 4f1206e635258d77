"""Whether evidence answers its question at all: how near the best match is, and how many of the words it has.

The limits were chosen on 140 questions that five repositories answer and 25 that none of them answers:
`docs/quality.md` has the figures.
"""

from collections.abc import Sequence

import numpy as np

from groundwire.evidence.question_words import stems
from groundwire_index.nodes.node import Node
from groundwire_server.domain.evidence.evidence import EvidenceRequest, Weakness
from groundwire_server.domain.search.search import Retriever
from groundwire_server.engine.stages import Ranked

_LEAST = 0.275
"""The least sum of the best similarity and a tenth of the best share of words."""
_SHARE_OF_WORDS = 0.1
_LEAST_WORDS = 0.28
"""The least share of words where nothing is known of similarity."""
_BEST = 5
"""Words are looked for in this many of the best matches."""


def weakness_of(request: EvidenceRequest, ranked: Ranked, nodes: Sequence[Node]) -> Weakness | None:
    """Why the matches do probably not answer; None if they do. `nodes` are the matches, best first."""
    similarity = _best_similarity(ranked)
    words = _best_share_of_words(request.text, nodes[:_BEST])
    if not nodes:
        return Weakness("nothing matches", similarity, words)
    if similarity is None:
        reason = f"no match has more than {words:.0%} of the words" if words < _LEAST_WORDS else ""
    elif words == 0.0:
        reason = "none of the best matches has a word of the question"
    elif similarity + _SHARE_OF_WORDS * words < _LEAST:
        reason = f"the best match has a similarity of {similarity:.2f}, and none has more than {words:.0%} of the words"
    else:
        reason = ""
    return Weakness(reason, similarity, words) if reason else None


def _best_similarity(ranked: Ranked) -> float | None:
    """The highest similarity of a match; None if no vectors were compared."""
    dense = ranked.candidates.by_retriever.get(Retriever.DENSE)
    if dense is None or not len(ranked.order):
        return None
    return float(np.nan_to_num(dense.scores[ranked.order], nan=-1.0).max())


def _best_share_of_words(question: str, nodes: Sequence[Node]) -> float:
    """The highest share of a question's words, by their first letters, that one of the nodes has."""
    question_stems = stems(question)
    if not question_stems:
        return 1.0  # a question of no words, such as one in a script without spaces, cannot be judged by them
    shares = []
    for node in nodes:
        text = f"{node.symbol} {node.location.path} {node.text}".lower()
        shares.append(sum(stem in text for stem in question_stems) / len(question_stems))
    return max(shares, default=0.0)
