"""FAISS alone: the vectors in memory, without a server and without texts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import faiss
import numpy as np

from bench.peers.peer import VISIBLE_FILTER, Action, Answer, Call, Questions
from bench.speed.corpus import ANSWERS


class FaissPeer:
    """An exact search of all vectors, or of those that a bitmap selects."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._index = faiss.IndexFlatIP(questions.vectors.shape[1])
        self._index.add(np.ascontiguousarray(questions.corpus.vectors))
        # The selector reads this memory, so that it must live as long.
        self._visible_bits = np.packbits(questions.corpus.mask(VISIBLE_FILTER), bitorder="little")
        self._visible = faiss.SearchParameters()
        self._visible.sel = faiss.IDSelectorBitmap(len(self._visible_bits), faiss.swig_ptr(self._visible_bits))

    @property
    def calls(self) -> Mapping[Action, Call]:
        return {Action.SEMANTIC: self._semantic, Action.SEMANTIC_VISIBLE: self._semantic_visible}

    def _semantic(self, number: int) -> Answer:
        _, rows = self._index.search(self._questions.vectors[number : number + 1], ANSWERS)
        return [row for row in rows[0].tolist() if row >= 0]

    def _semantic_visible(self, number: int) -> Answer:
        _, rows = self._index.search(self._questions.vectors[number : number + 1], ANSWERS, params=self._visible)
        return [row for row in rows[0].tolist() if row >= 0]


@contextmanager
def faiss_peer(questions: Questions, work: Path) -> Iterator[FaissPeer]:
    """The vectors in memory."""
    yield FaissPeer(questions)
