"""What holds for all tests: the garbage collector leaves alone what loading them made, which stays until the end."""

import gc
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Loading eight thousand tests and their libraries makes millions of objects, of which hardly one could go."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
