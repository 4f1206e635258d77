"""Native libraries get one thread a call, before any of them is loaded; the event loop gets its turn soon."""

import os
import sys

import pytest

from groundwire_server.rpc.serving.threads import bound_native_threads, keep_event_loop_prompt
from support import programs

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.setenv(variable, "")  # so that what the test sets is undone
        monkeypatch.delenv(variable)


def test_unset_variables_are_set_to_one() -> None:
    bound_native_threads()
    assert {os.environ[name] for name in VARIABLES} == {"1"}


def test_what_the_operator_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    bound_native_threads()
    assert os.environ["OMP_NUM_THREADS"] == "3"


def test_the_event_loop_waits_half_a_millisecond_for_a_thread_at_work() -> None:
    before = sys.getswitchinterval()
    try:
        keep_event_loop_prompt()
        assert sys.getswitchinterval() == pytest.approx(0.0005)
    finally:
        sys.setswitchinterval(before)


def test_the_server_modules_load_no_numeric_library() -> None:
    modules = "groundwire_server.rpc.serving.threads groundwire_server.rpc.supervision.worker"
    assert programs.loaded(modules, "numpy faiss torch rustworkx") == []
