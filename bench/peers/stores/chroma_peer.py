"""Chroma, in the process, with its files in a folder."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import chromadb
from chromadb.config import Settings

from bench.peers.peer import VISIBLE_TAG, Action, Answer, Call, Questions
from bench.speed.corpus import ANSWERS

_BATCH = 5_000


class ChromaPeer:
    """One collection. It finds documents that contain a text, but does not rank them by words."""

    def __init__(self, questions: Questions, folder: Path) -> None:
        self._questions = questions
        client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
        self._collection = client.create_collection(
            "nodes", configuration={"hnsw": {"space": "ip"}}, embedding_function=None
        )
        corpus = questions.corpus
        for start in range(0, len(corpus), _BATCH):
            rows = range(start, min(start + _BATCH, len(corpus)))
            self._collection.add(
                ids=[str(row) for row in rows],
                embeddings=corpus.vectors[rows.start : rows.stop],
                documents=[corpus.text(row) for row in rows],
                metadatas=[{"tag": questions.tags[row]} for row in rows],
            )

    @property
    def calls(self) -> Mapping[Action, Call]:
        return {
            Action.SEMANTIC: self._semantic,
            Action.SEMANTIC_VISIBLE: self._semantic_visible,
            Action.FETCH: self._fetch,
        }

    def _semantic(self, number: int) -> Answer:
        return self._nearest(number, None)

    def _semantic_visible(self, number: int) -> Answer:
        return self._nearest(number, {"tag": VISIBLE_TAG})

    def _nearest(self, number: int, where: dict[str, str] | None) -> Answer:
        result = self._collection.query(
            query_embeddings=self._questions.vectors[number : number + 1],
            n_results=ANSWERS,
            where=where,
            include=["distances"],
        )
        return [int(identity) for identity in result["ids"][0]]

    def _fetch(self, number: int) -> Answer:
        ids = [str(row) for row in self._questions.fetched[number]]
        result = self._collection.get(ids=ids, include=["documents"])
        return {int(identity): text for identity, text in zip(result["ids"], result["documents"], strict=True)}


@contextmanager
def chroma_peer(questions: Questions, work: Path) -> Iterator[ChromaPeer]:
    """A new database in `work`."""
    folder = work / "chroma"
    shutil.rmtree(folder, ignore_errors=True)
    yield ChromaPeer(questions, folder)
