"""The floors: what a call over gRPC costs at least, and what a search costs at least without any index."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.peers.bare_server import METHOD
from bench.peers.grpc_calls import SerialCaller, serial_caller
from bench.peers.peer import VISIBLE_FILTER, Action, Answer, Call, Questions
from bench.shared.programs import running
from bench.speed.corpus import ANSWERS

_ECHOED = b"e" * 200


class BareServer:
    """A server of grpc.aio that returns the 200 bytes that it was sent, whatever the call."""

    def __init__(self, caller: SerialCaller) -> None:
        self._caller = caller

    @property
    def calls(self) -> Mapping[Action, Call]:
        return dict.fromkeys(Action, self._echo)

    def _echo(self, number: int) -> None:
        self._caller.call(METHOD, _ECHOED)


class NumPyPeer:
    """A product of the matrix with the query, and a partial sort."""

    def __init__(self, questions: Questions) -> None:
        self._questions = questions
        self._vectors = np.ascontiguousarray(questions.corpus.vectors)
        self._visible_rows = np.flatnonzero(questions.corpus.mask(VISIBLE_FILTER))

    @property
    def calls(self) -> Mapping[Action, Call]:
        return {Action.SEMANTIC: self._semantic, Action.SEMANTIC_VISIBLE: self._semantic_visible}

    def _semantic(self, number: int) -> Answer:
        rows: list[int] = _nearest(self._vectors, self._questions.vectors[number]).tolist()
        return rows

    def _semantic_visible(self, number: int) -> Answer:
        visible_vectors = self._vectors[self._visible_rows]
        rows: list[int] = self._visible_rows[_nearest(visible_vectors, self._questions.vectors[number])].tolist()
        return rows


def _nearest(vectors: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.int64]:
    scores = vectors @ vector
    rows: NDArray[np.int64] = np.argpartition(-scores, min(ANSWERS, len(scores)) - 1)[:ANSWERS]
    ordered: NDArray[np.int64] = rows[np.argsort(-scores[rows], kind="stable")]
    return ordered


@contextmanager
def bare_server(questions: Questions, work: Path) -> Iterator[BareServer]:
    """Runs the bare server. Raises RuntimeError."""
    command = [sys.executable, "-m", "bench.peers.bare_server"]
    with running(command, work / "bare-server.log") as server, serial_caller(server.address) as caller:
        yield BareServer(caller)


@contextmanager
def numpy_peer(questions: Questions, work: Path) -> Iterator[NumPyPeer]:
    """The vectors in memory."""
    yield NumPyPeer(questions)
