"""What all tests share: a Milvus, where indexes are kept, and a collector that leaves alone what loading them made."""

import gc
from collections.abc import Generator, Iterator

import pytest

from support.milvus_server import MilvusServer, milvus_server
from support.storage import NewStorage, Storage, in_database_of


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
def milvus() -> Iterator[MilvusServer]:
    """A Milvus that these tests share; a test that stops it starts one of its own."""
    with milvus_server() as server:
        yield server


@pytest.fixture(scope="session", params=["embedded", pytest.param("milvus", marks=pytest.mark.slow)])
def new_storage(request: pytest.FixtureRequest) -> NewStorage:
    """Storage for indexes by the folder they are built in, of each kind that a server reads."""
    return in_database_of(request.getfixturevalue("milvus")) if request.param == "milvus" else Storage
