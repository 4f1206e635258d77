from pathlib import Path

import pytest

from groundwire_pipelines.definition.pipeline_definition import PipelineDefinition
from groundwire_pipelines.diagram import Language, drawing
from groundwire_pipelines.loading import load_pipeline
from support.small_registry import SMALL_REGISTRY

LOOP = """
pipeline:
  name: loop
  settings: {entry_step_id: search, top_k: 5, max_turn_loops: 3}
  steps:
    - {id: stop, action: stop}
    - {id: search, action: search, search_type: bm25, next: check}
    - {id: check, action: check, on_ok: stop, on_over_limit: guard}
    - {id: guard, action: guard, on_continue: search, on_limit: stop}
"""

MERMAID = """---
title: loop
---
flowchart TD
    s0[["stop<br/>stop"]]
    s1(["search<br/>search"])
    s2["check<br/>check"]
    s3["guard<br/>guard"]
    s1 --> s2
    s2 -->|"on_ok"| s0
    s2 -->|"on_over_limit"| s3
    s3 -->|"on_continue"| s1
    s3 -->|"on_limit"| s0
"""

DOT = r"""digraph "loop" {
    node [shape=box]
    "stop" [label="stop\nstop", peripheries=2]
    "search" [label="search\nsearch", style=rounded]
    "check" [label="check\ncheck"]
    "guard" [label="guard\nguard"]
    "search" -> "check"
    "check" -> "stop" [label="on_ok"]
    "check" -> "guard" [label="on_over_limit"]
    "guard" -> "search" [label="on_continue"]
    "guard" -> "stop" [label="on_limit"]
}
"""


@pytest.fixture
def loop(tmp_path: Path) -> PipelineDefinition:
    (tmp_path / "it.yaml").write_text(LOOP)
    return load_pipeline(str(tmp_path / "it.yaml"), (), {}, SMALL_REGISTRY)


@pytest.mark.parametrize(("language", "drawn"), [(Language.MERMAID, MERMAID), (Language.DOT, DOT)])
def test_every_step_and_every_way_is_drawn(loop: PipelineDefinition, language: Language, drawn: str) -> None:
    assert drawing(loop, SMALL_REGISTRY, language) == drawn
