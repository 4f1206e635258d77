"""Publishing a version and taking it are timed beside a copy, with the real storage code and moto's S3."""

import os
from pathlib import Path

import pytest

from bench.speed.publishing import COPY, grid, measure_publishing

pytestmark = pytest.mark.slow


def test_each_action_is_timed_in_each_round(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "shop.py").write_text("def total(orders):\n    return sum(orders)\n")
    environment = dict(os.environ)
    costs = measure_publishing(tmp_path / "source", rounds=2, work=tmp_path / "work")
    assert os.environ == environment
    assert costs.version_bytes > 0
    actions = [COPY, "publish into a folder", "follow from a folder", "publish into S3", "follow from S3"]
    assert list(costs.seconds) == actions
    assert all(len(times) == 2 for times in costs.seconds.values())
    table = grid(costs, "The index of source")
    assert [row[0] for row in table.rows] == actions
    assert table.rows[0][-1] == "1.00"
