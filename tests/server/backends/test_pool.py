"""Opening a version: once, however many ask, and no version waits for another."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.node import Node
from groundwire_index.scope import Scope
from groundwire_index.store.loaded import LoadedIndex, open_version
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.backends.embedded.snapshot import EmbeddedSnapshot
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import PreconditionError, Reason

V1 = Scope("shop", "main", "v1")
V2 = replace(V1, active_index="v2")
PUBLIC = AccessContext()
LONG = 20.0
"""Seconds; longer than anything here takes, and short enough for a test that fails."""


class SlowOpening:
    """Opens versions, one of them only when it is let."""

    def __init__(self, slow: str) -> None:
        self._slow = slow
        self.begun, self.let = threading.Event(), threading.Event()
        self.opened: list[str] = []

    def __call__(self, directory: Path, scope: Scope) -> LoadedIndex:
        self.opened.append(scope.active_index)
        if scope.active_index == self._slow:
            self.begun.set()
            assert self.let.wait(LONG)
        return open_version(directory, scope)


@pytest.fixture
def backend(tmp_path: Path, publish: Callable[..., None], make_node: Callable[..., Node]) -> EmbeddedBackend:
    for scope in (V1, V2):
        publish(tmp_path, [make_node("A", "tax", scope=scope)], scope=scope)
    return EmbeddedBackend(tmp_path)


@pytest.fixture
def opening(monkeypatch: pytest.MonkeyPatch) -> SlowOpening:
    slow = SlowOpening("v1")
    monkeypatch.setattr("groundwire_server.backends.embedded.pool.open_version", slow)
    return slow


def test_a_slow_opening_holds_up_no_other_version(backend: EmbeddedBackend, opening: SlowOpening) -> None:
    with ThreadPoolExecutor(2) as threads:
        slow = threads.submit(backend.open, V1, PUBLIC)
        try:
            assert opening.begun.wait(LONG)
            assert threads.submit(backend.open, V2, PUBLIC).result(LONG).index == "v2"
            assert not slow.done()
        finally:
            opening.let.set()
        assert slow.result(LONG).index == "v1"


def test_a_version_that_many_ask_for_is_opened_once(backend: EmbeddedBackend, opening: SlowOpening) -> None:
    together = threading.Barrier(4)

    def open_together() -> EmbeddedSnapshot:
        together.wait(LONG)
        return backend.open(V1, PUBLIC)

    with ThreadPoolExecutor(4) as threads:
        futures = [threads.submit(open_together) for _ in range(4)]
        assert opening.begun.wait(LONG)
        time.sleep(0.05)  # the others, if they were let, would begin to open it as well
        opening.let.set()
        views = [future.result(LONG).view for future in futures]
    assert opening.opened == ["v1"]
    assert len({id(view.index) for view in views}) == 1


def test_an_opening_that_failed_is_tried_again(backend: EmbeddedBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(directory: Path, scope: Scope) -> LoadedIndex:
        raise IndexDamagedError("torn")

    with monkeypatch.context() as patch:
        patch.setattr("groundwire_server.backends.embedded.pool.open_version", damaged)
        for _ in range(2):
            with pytest.raises(PreconditionError) as caught:
                backend.open(V1, PUBLIC)
            assert caught.value.reason is Reason.INDEX_DAMAGED
    assert backend.open(V1, PUBLIC).index == "v1"
