"""What is asked of every peer, and what a peer is."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bench.speed.corpus import RANDOM, Corpus

VISIBLE_TAG = "percent"
"""The tag of the caller who may see 1 % of the nodes."""
VISIBLE_FILTER = "1 % random"
"""The filter of the corpus that passes the nodes with this tag."""
FETCHED = 10
"""How many texts a fetch asks for."""


class Action(StrEnum):
    """A kind of call."""

    SEMANTIC = "semantic"
    SEMANTIC_VISIBLE = "semantic, 1 % visible"
    TEXT = "text"
    HYBRID = "hybrid"
    FETCH = "fetch"


FILTERS: Mapping[Action, str] = {Action.SEMANTIC: "", Action.SEMANTIC_VISIBLE: VISIBLE_FILTER}
"""The searches whose right answers are known, with the filter that selects the visible rows."""

Answer: TypeAlias = Sequence[int] | Mapping[int, str] | None
"""The rows of a search, the best first, or the texts of a fetch by their rows; None from the bare server."""
Call: TypeAlias = Callable[[int], Answer]
"""Makes a call with the query of a number."""


class Peer(Protocol):
    """Holds the nodes of a corpus."""

    @property
    def calls(self) -> Mapping[Action, Call]:
        """How to make each call that it can answer."""
        ...


class Questions:
    """The queries of a corpus in the forms that peers take, made before anything is measured."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self.vectors: NDArray[np.float32] = np.ascontiguousarray(corpus.query_vectors)
        self.lists: list[list[float]] = corpus.query_vectors.tolist()
        self.texts = corpus.query_texts
        generator = np.random.default_rng(corpus.shape["seed"])
        count = min(FETCHED, len(corpus))
        self.fetched: list[list[int]] = [
            generator.choice(len(corpus), count, replace=False).tolist() for _ in self.texts
        ]
        self.tags = [corpus.value(RANDOM, row) for row in range(len(corpus))]

    def __len__(self) -> int:
        return len(self.texts)

    def right_share(self, action: Action, number: int, answer: Answer) -> float | None:
        """recall@10 of a search by vectors, or the share of the asked texts that came; None where it is not known."""
        if answer is None:
            return None
        if action is Action.FETCH:
            rows = self.fetched[number]
            texts = answer if isinstance(answer, Mapping) else {}
            return sum(texts.get(row) == self.corpus.text(row) for row in rows) / len(rows)
        if action in FILTERS and not isinstance(answer, Mapping):
            return self.corpus.recall(FILTERS[action], number, [answer])
        return None
