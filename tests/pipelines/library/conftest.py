from pathlib import Path

import pytest

from groundwire_pipelines.history.sqlite import SqliteHistory
from support.pipeline_runs import Shop


@pytest.fixture
def ann(tmp_path: Path) -> Shop:
    """Runs whose history is empty."""
    return Shop(SqliteHistory(tmp_path / "history.db"))
