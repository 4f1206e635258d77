"""LanceDB, in the process, with its files in a folder."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import lancedb
import numpy as np
import pyarrow
from lancedb.index import FTS, Bitmap, BTree, HnswFlat

from bench.peers.peer import VISIBLE_TAG, Action, Answer, Call, Questions
from bench.speed.corpus import ANSWERS


class LancePeer:
    """One table with an index for each kind of call."""

    def __init__(self, questions: Questions, folder: Path) -> None:
        self._questions = questions
        corpus = questions.corpus
        vectors = pyarrow.array(np.ascontiguousarray(corpus.vectors).ravel())
        columns = {
            "id": pyarrow.array(range(len(corpus)), pyarrow.int64()),
            "text": [corpus.text(row) for row in range(len(corpus))],
            "tag": questions.tags,
            "vector": pyarrow.FixedSizeListArray.from_arrays(vectors, corpus.vectors.shape[1]),
        }
        self._table = lancedb.connect(str(folder)).create_table("nodes", pyarrow.table(columns))
        self._table.create_index("id", config=BTree())
        self._table.create_index("tag", config=Bitmap())
        self._table.create_index("text", config=FTS(stem=False, remove_stop_words=False))
        self._table.create_index("vector", config=HnswFlat(distance_type="dot"))

    @property
    def calls(self) -> Mapping[Action, Call]:
        return {
            Action.SEMANTIC: self._semantic,
            Action.SEMANTIC_VISIBLE: self._semantic_visible,
            Action.TEXT: self._text,
            Action.HYBRID: self._hybrid,
            Action.FETCH: self._fetch,
        }

    def _semantic(self, number: int) -> Answer:
        query = self._table.search(self._questions.vectors[number])
        return _rows(query.select(["id", "_distance"]).limit(ANSWERS).to_arrow())

    def _semantic_visible(self, number: int) -> Answer:
        query = self._table.search(self._questions.vectors[number]).where(f"tag = '{VISIBLE_TAG}'", prefilter=True)
        return _rows(query.select(["id", "_distance"]).limit(ANSWERS).to_arrow())

    def _text(self, number: int) -> Answer:
        query = self._table.search(self._questions.texts[number], query_type="fts")
        return _rows(query.select(["id", "_score"]).limit(ANSWERS).to_arrow())

    def _hybrid(self, number: int) -> Answer:
        query = self._table.search(query_type="hybrid").vector(self._questions.vectors[number])
        return _rows(query.text(self._questions.texts[number]).select(["id"]).limit(ANSWERS).to_arrow())

    def _fetch(self, number: int) -> Answer:
        ids = ", ".join(map(str, self._questions.fetched[number]))
        result = self._table.search().where(f"id IN ({ids})").select(["id", "text"]).limit(ANSWERS).to_arrow()
        return dict(zip(_rows(result), result["text"].to_pylist(), strict=True))


def _rows(result: pyarrow.Table) -> list[int]:
    rows: list[int] = result["id"].to_pylist()
    return rows


@contextmanager
def lance_peer(questions: Questions, work: Path) -> Iterator[LancePeer]:
    """A new database in `work`."""
    folder = work / "lancedb"
    shutil.rmtree(folder, ignore_errors=True)
    yield LancePeer(questions, folder)
