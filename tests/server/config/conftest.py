"""No variable of whoever runs the tests is a setting of theirs."""

import os

import pytest


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("GROUNDWIRE_"):
            monkeypatch.delenv(name)
