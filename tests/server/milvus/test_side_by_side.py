"""Parts of calls wait for Milvus side by side, and never for one another's threads."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pytest

from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.connection import MilvusConnection
from groundwire_milvus.storage_errors import StorageUnavailableError

PATIENCE_SECONDS = 300
MORE_THAN_THREADS = 100


@pytest.fixture
def connection() -> MilvusConnection:
    return MilvusConnection(MilvusAddress("http://127.0.0.1:9"))


def test_parts_run_side_by_side_and_give_their_results_in_order(connection: MilvusConnection) -> None:
    meeting = threading.Barrier(3)

    def part(number: int) -> int:
        meeting.wait(PATIENCE_SECONDS)
        return number

    assert connection.together([partial(part, number) for number in range(3)]) == [0, 1, 2]
    assert connection.together([]) == []


def test_a_call_needs_no_thread_beside_its_own(connection: MilvusConnection) -> None:
    over = threading.Event()
    with ExitStack() as stack:
        stack.callback(over.set)
        for _ in range(MORE_THAN_THREADS):
            stack.enter_context(connection.beside(partial(over.wait, PATIENCE_SECONDS)))
        assert connection.together([threading.get_ident] * 3) == [threading.get_ident()] * 3


def test_parts_of_parts_of_many_calls_end(connection: MilvusConnection) -> None:
    def part(depth: int) -> int:
        return 1 + sum(connection.together([partial(part, depth - 1)] * 4)) if depth else 1

    with ThreadPoolExecutor(16) as callers:
        assert set(callers.map(part, [3] * 24, timeout=PATIENCE_SECONDS)) == {1 + 4 + 16 + 64}


def test_after_an_error_no_further_part_begins(connection: MilvusConnection) -> None:
    ran, over = list[None](), threading.Event()

    def part() -> None:
        over.wait(PATIENCE_SECONDS)
        ran.append(None)

    def refused() -> None:
        raise StorageUnavailableError("refused")

    with pytest.raises(StorageUnavailableError, match="refused"):
        connection.together([refused, *[part] * MORE_THAN_THREADS])
    over.set()
    connection.close()
    assert len(ran) < MORE_THAN_THREADS
