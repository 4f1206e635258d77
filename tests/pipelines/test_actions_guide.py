"""The package of docs/pipelines-actions.md, exactly as it stands there, installed and run."""

import asyncio
import importlib
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import cast

import pytest

from groundwire_client import AsyncGroundwireClient
from groundwire_pipelines import Pipeline, PipelineResult, StepEnded
from groundwire_pipelines.actions import registry
from support.retrieval import FakeRetrieval, fetched, text

GUIDE = (Path(__file__).parents[2] / "docs" / "pipelines-actions.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    (content,) = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return str(content)


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipeline]:
    """The guide's pipeline, with its package installed as far as this process can."""
    (tmp_path / "groundwire_drop_texts.py").write_text(block("python"), encoding="utf-8")
    (tmp_path / "shop.yaml").write_text(block("yaml"), encoding="utf-8")
    entries = tomllib.loads(block("toml"))["project"]["entry-points"][registry.PLUGIN_GROUP]
    points = [EntryPoint(name, value, registry.PLUGIN_GROUP) for name, value in entries.items()]
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.PLUGIN_GROUP else [])
    registry.actions.cache_clear()
    importlib.invalidate_caches()
    yield Pipeline.load(tmp_path / "shop.yaml")
    registry.actions.cache_clear()
    sys.modules.pop("groundwire_drop_texts", None)


def run(pipeline: Pipeline, *texts: str) -> PipelineResult:
    retrieval = FakeRetrieval(fetches=[fetched([text(f"n{number}", written) for number, written in enumerate(texts)])])
    return asyncio.run(pipeline.arun("tax", client=cast("AsyncGroundwireClient", retrieval)))


def test_the_package_of_the_guide_runs(pipeline: Pipeline) -> None:
    result = run(pipeline, "def tax(): ...", "password = 'secret'")
    assert "def tax()" in result.answer
    assert "secret" not in result.answer
    assert "n1" in repr(result.state.extensions["drop_texts"])
    (ended,) = (event for event in result.trace if isinstance(event, StepEnded) and event.step_id == "drop")
    assert (ended.transition, dict(ended.detail)) == ("on_dropped", {"dropped": 1})
    assert ended.outputs["extensions"] == {"drop_texts": {"ids": {"count": 1}}}


def test_the_package_of_the_guide_passes_its_error_on(pipeline: Pipeline) -> None:
    strict = Pipeline(pipeline.definition)
    drop = strict.definition.steps["drop"]
    assert drop.transitions["on_error.too-few-texts"] == "finalize"
    assert [warning.message for warning in pipeline.definition.warnings] == []
