"""What holds for all tests: the collector leaves alone what loading the tests made, which stays until the end."""

import gc


def pytest_sessionstart() -> None:
    """Loading eight thousand tests and their libraries makes millions of objects, and hardly one that could go."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
