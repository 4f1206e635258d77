"""milvus-lite: its server in a process of its own, over gRPC."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, RRFRanker

from bench.peers.peer import VISIBLE_TAG, Action, Answer, Call, Questions
from bench.speed.corpus import ANSWERS
from bench.speed.milvus import milvus_lite

_BATCH = 1_000
_COLLECTION = "nodes"
_LONGEST_TEXT = 65_535
_PREFETCHED = 100


class MilvusLitePeer:
    """One collection with indexes of the vectors and the words."""

    def __init__(self, questions: Questions, client: MilvusClient) -> None:
        self._questions = questions
        self._client = client
        _create(client, questions.corpus.vectors.shape[1])
        corpus = questions.corpus
        for start in range(0, len(corpus), _BATCH):
            rows = [
                {"id": row, "tag": questions.tags[row], "text": corpus.text(row), "vector": corpus.vectors[row]}
                for row in range(start, min(start + _BATCH, len(corpus)))
            ]
            client.insert(_COLLECTION, rows)
        client.flush(_COLLECTION)
        client.load_collection(_COLLECTION)

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
        data = [self._questions.lists[number]]
        return _rows(self._client.search(_COLLECTION, data, anns_field="vector", limit=ANSWERS))

    def _semantic_visible(self, number: int) -> Answer:
        data, visible = [self._questions.lists[number]], f'tag == "{VISIBLE_TAG}"'
        return _rows(self._client.search(_COLLECTION, data, anns_field="vector", limit=ANSWERS, filter=visible))

    def _text(self, number: int) -> Answer:
        data = [self._questions.texts[number]]
        return _rows(self._client.search(_COLLECTION, data, anns_field="words", limit=ANSWERS))

    def _hybrid(self, number: int) -> Answer:
        requests = [
            AnnSearchRequest([self._questions.lists[number]], "vector", {}, _PREFETCHED),
            AnnSearchRequest([self._questions.texts[number]], "words", {}, _PREFETCHED),
        ]
        return _rows(self._client.hybrid_search(_COLLECTION, requests, RRFRanker(), limit=ANSWERS))

    def _fetch(self, number: int) -> Answer:
        nodes = self._client.get(_COLLECTION, self._questions.fetched[number], output_fields=["text"])
        return {node["id"]: node["text"] for node in nodes}


def _create(client: MilvusClient, dimension: int) -> None:
    schema = MilvusClient.create_schema()
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("tag", DataType.VARCHAR, max_length=256)
    schema.add_field("text", DataType.VARCHAR, max_length=_LONGEST_TEXT, enable_analyzer=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimension)
    schema.add_field("words", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_function(Function("bm25", FunctionType.BM25, input_field_names=["text"], output_field_names=["words"]))
    indexes = MilvusClient.prepare_index_params()
    indexes.add_index("vector", index_type="HNSW", metric_type="IP", params={"M": 16, "efConstruction": 200})
    indexes.add_index("words", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
    client.create_collection(_COLLECTION, schema=schema, index_params=indexes)


def _rows(results: list[list[dict[str, int]]]) -> list[int]:
    return [hit["id"] for hit in results[0]]


@contextmanager
def milvus_lite_peer(questions: Questions, work: Path) -> Iterator[MilvusLitePeer]:
    """A new database in `work`. Raises RuntimeError."""
    folder = work / "milvus-lite"
    shutil.rmtree(folder, ignore_errors=True)
    with milvus_lite(folder) as milvus:
        client = MilvusClient(milvus.uri)
        yield MilvusLitePeer(questions, client)
        client.close()
