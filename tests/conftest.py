"""What all tests share: a Milvus, where indexes are kept, and a collector that leaves alone what loading them made.

Of several test processes, each takes a file of tests at a time, but for those of the contract.
"""

import gc
import signal
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

import support.properties  # noqa: F401  registers the profiles
from groundwire_server.rpc.serving.threads import bound_native_threads
from support.storage import NewStorage, Storage

if TYPE_CHECKING:
    from support.milvus_server import MilvusServer

settings.load_profile("quick")  # replaced by `--hypothesis-profile`, which is read later

bound_native_threads()  # before FAISS is loaded: threads of several processes of tests would wait for each other


class _ByFileOrStorage(LoadFileScheduling):  # type: ignore[misc]
    """Files of tests, but for the contract: its tests share indexes and servers of each kind of storage."""

    def _split_scope(self, nodeid: str) -> str:
        if not nodeid.startswith("tests/contract/"):
            return str(super()._split_scope(nodeid))
        _, _, parameters = nodeid.partition("[")
        return "contract, milvus" if "milvus" in parameters.rstrip("]").split("-") else "contract"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Which process runs which tests, under `--dist loadfile`."""
    return _ByFileOrStorage(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_configure() -> None:
    """Handles Ctrl-C, also where a shell that starts tests in the background lets them ignore it.

    Programs would inherit that. One that is started begins with the default for each signal that is handled.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Loading eight thousand tests and their libraries makes millions of objects, of which hardly one could go."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What asks Milvus is slow: of the tests' own one, a build takes seconds and a request up to a tenth of one."""
    for item in items:
        if isinstance(item, pytest.Function) and "milvus" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def milvus() -> Iterator["MilvusServer"]:
    """A Milvus that these tests share; a test that stops it starts one of its own."""
    from support.milvus_server import milvus_server  # other tests run without the backend of Milvus

    with milvus_server() as server:
        yield server


@pytest.fixture(scope="session")
def storage_in_milvus(milvus: "MilvusServer") -> NewStorage:
    """Storage for indexes in databases of that Milvus."""
    from support.milvus_storage import in_database_of

    return in_database_of(milvus)


@pytest.fixture(scope="session", params=["embedded", pytest.param("milvus", marks=pytest.mark.slow)])
def new_storage(request: pytest.FixtureRequest) -> NewStorage:
    """Storage for indexes by the folder they are built in, of each kind that a server reads."""
    return request.getfixturevalue("storage_in_milvus") if request.param == "milvus" else Storage
