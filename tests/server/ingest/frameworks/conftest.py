"""Trees are read by workers that tests share."""

import pytest


@pytest.fixture(autouse=True)
def read_by_shared_workers(shared_workers: None) -> None:
    pass
