"""Whether evidence answers its question at all: how near the best match is, and how many of the words it has.

The limits were chosen on 140 questions that five repositories answer and 25 that none of them answers:
`docs/quality.md` has the figures.
"""

import re
from collections.abc import Sequence

import numpy as np

from groundwire.evidence.question_words import stem_of, stems, words_of
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
_MOST_NEAR_WORDS = 8
_SEPARATOR = re.compile(r"::|->|[.#/]")


def weakness_of(request: EvidenceRequest, ranked: Ranked, nodes: Sequence[Node]) -> Weakness | None:
    """Why the matches do probably not answer; None if they do. `nodes` are the matches, best first."""
    similarity = _best_similarity(ranked)
    words = _best_share_of_words(request.text, nodes[:_BEST])
    if not nodes:
        return Weakness("nothing matches", similarity, words, ())
    if similarity is None:
        reason = f"no match has more than {words:.0%} of the words" if words < _LEAST_WORDS else ""
    elif words == 0.0:
        reason = "none of the best matches has a word of the question"
    elif similarity + _SHARE_OF_WORDS * words < _LEAST:
        reason = f"the best match has a similarity of {similarity:.2f}, and none has more than {words:.0%} of the words"
    else:
        reason = ""
    return Weakness(reason, similarity, words, _near_words(request.text, nodes)) if reason else None


def _near_words(question: str, nodes: Sequence[Node]) -> tuple[str, ...]:
    """The words in the names of the matches that the question does not have; a word of better matches comes first.

    Of words with the same first letters there is one, the first by rank.
    """
    in_question = stems(question)
    weights: dict[str, float] = {}
    spelled: dict[str, str] = {}
    for rank, node in enumerate(nodes, start=1):
        name = _SEPARATOR.split(node.symbol.partition("(")[0])[-1]
        file_name = node.location.path.rpartition("/")[2].partition(".")[0]
        by_stem = {stem_of(word): word for word in reversed(words_of(f"{name} {file_name}"))}
        for stem in sorted(by_stem.keys() - in_question):
            weights[stem] = weights.get(stem, 0.0) + 1.0 / rank
            spelled.setdefault(stem, by_stem[stem])
    best = sorted(weights, key=lambda stem: (-weights[stem], stem))[:_MOST_NEAR_WORDS]
    return tuple(spelled[stem] for stem in best)


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
