"""Groundwire: a server in a process of its own, over gRPC."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from bench.peers.grpc_calls import SerialCaller, serial_caller
from bench.peers.peer import VISIBLE_TAG, Action, Answer, Call, Questions
from bench.shared.programs import running, serve_command
from bench.speed.calls import METHODS, SEARCHES
from bench.speed.corpus import ANSWERS, GROUPS
from bench.speed.index import KIND, SCOPE, Stages, local_id, node_id
from groundwire.v1 import retrieval_pb2, scope_pb2
from groundwire_ingest.build.build import BuildOptions, build_index
from groundwire_ingest.records import SourceEdge, SourceNode, StatedAccess

_BUDGET_TOKENS = 100_000


class TaggedSource:
    """The nodes of a corpus without edges. Each has one ACL tag, and the caller must hold it."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions

    @property
    def description(self) -> str:
        return f"{len(self._questions.tags)} synthetic nodes with access tags"

    def read(self) -> Iterator[SourceNode | SourceEdge]:
        corpus = self._questions.corpus
        for row, tag in enumerate(self._questions.tags):
            text = corpus.text(row)
            yield SourceNode(
                kind=KIND,
                local_id=local_id(row),
                text=text,
                origin=f"row {row}",
                path=f"src/file{row}.py",
                start_line=1,
                end_line=10,
                symbol=text.split()[0],
                access=StatedAccess(acl_tags=(tag,)),
                vector=tuple(corpus.vectors[row].tolist()),
            )


class GroundwirePeer:
    """Calls of RetrievalService. Each states what the caller may see."""

    def __init__(self, questions: Questions, caller: SerialCaller) -> None:
        self._questions = questions
        self._caller = caller
        self._scope = scope_pb2.IndexScope(repository=SCOPE.repository, branch=SCOPE.branch)
        self._sees_all = scope_pb2.AccessContext(acl_tags_any=GROUPS)
        self._sees_few = scope_pb2.AccessContext(acl_tags_any=[VISIBLE_TAG])

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
        return self._search("semantic", self._sees_all, "", self._questions.lists[number])

    def _semantic_visible(self, number: int) -> Answer:
        return self._search("semantic", self._sees_few, "", self._questions.lists[number])

    def _text(self, number: int) -> Answer:
        return self._search("bm25", self._sees_all, self._questions.texts[number], ())

    def _hybrid(self, number: int) -> Answer:
        return self._search("hybrid", self._sees_all, self._questions.texts[number], self._questions.lists[number])

    def _search(self, kind: str, access: scope_pb2.AccessContext, text: str, vector: list[float] | tuple[()]) -> Answer:
        request = retrieval_pb2.SearchNodesRequest(
            scope=self._scope, access=access, search_type=SEARCHES[kind], query=text, query_vector=vector, top_k=ANSWERS
        )
        response = retrieval_pb2.SearchNodesResponse.FromString(
            self._caller.call(METHODS[kind], request.SerializeToString())
        )
        return [_row(hit.id) for hit in response.hits]

    def _fetch(self, number: int) -> Answer:
        request = retrieval_pb2.FetchNodeTextsRequest(
            scope=self._scope,
            access=self._sees_all,
            seed_ids=map(node_id, self._questions.fetched[number]),
            budget_tokens=_BUDGET_TOKENS,
        )
        response = retrieval_pb2.FetchNodeTextsResponse.FromString(
            self._caller.call(METHODS["fetch"], request.SerializeToString())
        )
        return {_row(text.id): text.text for text in response.texts}


def _row(identity: str) -> int:
    return int(identity.rpartition("::n")[2])


@contextmanager
def groundwire_peer(questions: Questions, work: Path) -> Iterator[GroundwirePeer]:
    """Builds the index and serves it with one worker. Raises IngestError and RuntimeError."""
    data = work / "groundwire-data"
    shutil.rmtree(data, ignore_errors=True)
    build_index(TaggedSource(questions), BuildOptions(data, SCOPE, embedder=None), Stages())
    command = serve_command(data)
    with running(command, work / "groundwire.log") as server, serial_caller(server.address) as caller:
        yield GroundwirePeer(questions, caller)
