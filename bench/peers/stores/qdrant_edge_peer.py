"""Qdrant's edge engine (qdrant-edge-py), in the process, with its files in a folder."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge

from bench.peers.peer import VISIBLE_TAG, Action, Answer, Call, Questions
from bench.speed.corpus import ANSWERS

_BATCH = 2_000
_PREFETCHED = 100
_RRF_K = 60


class QdrantEdgePeer:
    """One shard with indexes of the vectors, the tags and the words."""

    def __init__(self, questions: Questions, shard: qdrant_edge.EdgeShard) -> None:
        self._questions = questions
        self._shard = shard
        condition = qdrant_edge.FieldCondition("tag", match=qdrant_edge.MatchValue(VISIBLE_TAG))
        self._visible = qdrant_edge.Filter(must=[condition])

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
        return self._asked(qdrant_edge.QueryRequest(limit=ANSWERS, query=self._vector(number)))

    def _semantic_visible(self, number: int) -> Answer:
        return self._asked(qdrant_edge.QueryRequest(limit=ANSWERS, query=self._vector(number), filter=self._visible))

    def _text(self, number: int) -> Answer:
        return self._asked(qdrant_edge.QueryRequest(limit=ANSWERS, query=self._words(number)))

    def _hybrid(self, number: int) -> Answer:
        prefetches = [
            qdrant_edge.Prefetch(limit=_PREFETCHED, query=query)
            for query in (self._vector(number), self._words(number))
        ]
        fusion = qdrant_edge.Fusion.Rrf(k=_RRF_K)
        return self._asked(qdrant_edge.QueryRequest(limit=ANSWERS, query=fusion, prefetches=prefetches))

    def _fetch(self, number: int) -> Answer:
        records = self._shard.retrieve(self._questions.fetched[number], with_payload=["text"], with_vector=False)
        return {record.id: record.payload["text"] for record in records}

    def _vector(self, number: int) -> qdrant_edge.Query:
        return qdrant_edge.Query.Nearest(self._questions.lists[number])

    def _words(self, number: int) -> qdrant_edge.TextQuery:
        return qdrant_edge.TextQuery("text", self._questions.texts[number])

    def _asked(self, request: qdrant_edge.QueryRequest) -> Answer:
        return [point.id for point in self._shard.query(request)]


@contextmanager
def qdrant_edge_peer(questions: Questions, work: Path) -> Iterator[QdrantEdgePeer]:
    """A new shard in `work`."""
    folder, corpus = work / "qdrant-edge", questions.corpus
    shutil.rmtree(folder, ignore_errors=True)
    params = qdrant_edge.EdgeVectorParams(size=corpus.vectors.shape[1], distance=qdrant_edge.Distance.Dot)
    shard = qdrant_edge.EdgeShard.create(str(folder), qdrant_edge.EdgeConfig(vectors=params))
    update = qdrant_edge.UpdateOperation
    shard.update(update.create_field_index("tag", qdrant_edge.KeywordIndexParams()))
    shard.update(update.create_field_index("text", qdrant_edge.TextIndexParams(scoring=True)))
    for start in range(0, len(corpus), _BATCH):
        points = [
            qdrant_edge.Point(
                id=row,
                vector=corpus.vectors[row].tolist(),
                payload={"text": corpus.text(row), "tag": questions.tags[row]},
            )
            for row in range(start, min(start + _BATCH, len(corpus)))
        ]
        shard.update(update.upsert_points(points))
    shard.optimize()
    yield QdrantEdgePeer(questions, shard)
    shard.close()
