from pathlib import Path
from xml.etree import ElementTree

import pytest

from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.definition.loading import load_pipeline
from groundwire_pipelines.drawing.svg import pipeline_svg
from support.small_registry import SMALL_REGISTRY

SVG = "{http://www.w3.org/2000/svg}"
LOOP = """
pipeline:
  name: loop
  settings: {entry_step_id: search, top_k: 5, max_turn_loops: 3}
  steps:
    - {id: stop, action: stop}
    - {id: search, action: search, search_type: bm25, next: check}
    - {id: check, action: check, on_ok: stop, on_over_limit: guard}
    - {id: guard, action: guard, on_continue: search, on_limit: stop}
    - {id: lost, action: stop}
"""


@pytest.fixture
def picture(tmp_path: Path) -> ElementTree.Element:
    (tmp_path / "it.yaml").write_text(LOOP)
    definition = load_pipeline(str(tmp_path / "it.yaml"), (), {}, SMALL_REGISTRY)
    return ElementTree.fromstring(pipeline_svg(definition, SMALL_REGISTRY))


def texts(picture: ElementTree.Element, style: str) -> list[str | None]:
    return [text.text for text in picture.iter(f"{SVG}text") if text.get("class") == style]


def test_every_step_and_named_branch_is_there(picture: ElementTree.Element) -> None:
    assert texts(picture, "title") == ["loop"]
    assert texts(picture, "id") == ["stop", "search", "check", "guard", "lost"]
    assert texts(picture, "action") == ["stop", "search", "check", "guard", "stop"]
    assert sorted(map(str, texts(picture, "label"))) == ["on_continue", "on_limit", "on_ok", "on_over_limit"]


def test_steps_show_what_they_are(picture: ElementTree.Element) -> None:
    roles = [group.get("class") for group in picture.iter(f"{SVG}g") if group.get("class")]
    assert roles == ["step end", "step entry", "step branching", "step guard", "step end"]


def test_only_the_branch_that_closes_the_loop_leads_back(picture: ElementTree.Element) -> None:
    styles = [path.get("class") for path in picture.iter(f"{SVG}path")]
    assert styles.count("branch back") == 1
    assert styles.count("branch") == 4


def test_everything_lies_inside_the_picture(picture: ElementTree.Element) -> None:
    width, height = float(picture.get("width", "0")), float(picture.get("height", "0"))
    boxes = [box for box in picture.iter(f"{SVG}rect") if box.get("class") == "box"]
    for box in boxes:
        x, y, wide, high = (float(box.get(name, "nan")) for name in ("x", "y", "width", "height"))
        assert 0 < x < x + wide < width
        assert 0 < y < y + high < height


def test_the_picture_is_the_same_each_time() -> None:
    definition = load_pipeline("rag_code_base")
    assert pipeline_svg(definition, actions()) == pipeline_svg(load_pipeline("rag_code_base"), actions())
