"""The pipelines of docs/pipelines.md are sound."""

import re
from pathlib import Path

from groundwire_pipelines.loading import load_pipeline

GUIDE = (Path(__file__).parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")


def test_every_whole_pipeline_of_the_guide_loads(tmp_path: Path) -> None:
    pipelines = re.findall(r"```yaml\n(pipeline:\n.*?)```", GUIDE, re.DOTALL)
    assert pipelines
    for number, text in enumerate(pipelines):
        path = tmp_path / f"{number}.yaml"
        path.write_text(text, encoding="utf-8")
        assert load_pipeline(str(path)).warnings == ()
