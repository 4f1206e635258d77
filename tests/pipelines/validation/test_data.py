"""What a step reads must have been written on every way to it; what it searches by, the pipeline must have."""

from dataclasses import fields
from pathlib import Path

import pytest

from groundwire_pipelines.action_definition import ERROR_FIELDS
from groundwire_pipelines.errors import DefinitionError
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.state import RETRIEVED, PipelineState
from groundwire_pipelines.validation.validator import GIVEN

HEAD = "pipeline:\n  name: it\n  settings: {entry_step_id: a, top_k: 3, max_context_tokens: 100, max_turn_loops: 1}\n"
END = "    - {id: end, action: finalize}\n"


def problems_of(folder: Path, *steps: str, head: str = HEAD) -> list[str]:
    """What loading tells of a pipeline of these steps and an end."""
    path = folder / "it.yaml"
    path.write_text(head + "  steps:\n" + "".join(f"    - {{{step}}}\n" for step in steps) + END, encoding="utf-8")
    try:
        load_pipeline(str(path))
    except DefinitionError as error:
        return [
            f"{Path(problem.file).name}:{problem.line}: {problem.key}: {problem.message}" for problem in error.problems
        ]
    return []


SEARCH = "id: a, action: search_nodes, search_type: bm25, query_from: question, next: {}"
FETCH = "id: fetch, action: fetch_node_texts, next: {}"
RENDER = "id: render, action: render_context_blocks, next: end"


def test_what_is_written_before_may_be_read(tmp_path: Path) -> None:
    assert problems_of(tmp_path, SEARCH.format("fetch"), FETCH.format("render"), RENDER) == []


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (
            (SEARCH.format("render"), FETCH.format("render"), RENDER),
            "it.yaml:7: steps.render: reads `node_texts`, which no step has written on the path a -> render; "
            "'fetch' would",
        ),
        (
            ("id: a, action: handle_prefix, protocol: answer, on_answer: end, on_request: end",),
            "it.yaml:5: steps.a: reads `last_model_response`, which no step has written before the entry step; "
            "'a' would",
        ),
        (
            ("id: a, action: search_nodes, search_type: bm25, next: fetch", FETCH.format("render"), RENDER),
            "it.yaml:5: steps.a: reads `last_model_response`, which no step has written before the entry step",
        ),
        (
            ("id: a, action: check_retrieval, on_none: end, on_ok: end",),
            "it.yaml:5: steps.a: reads `search_report`, which no step has written before the entry step",
        ),
        (
            ("id: a, action: finalize",),
            "it.yaml:5: steps.a: reads `final_answer_en` or `model_answer` or `context_blocks` or `search_report` or "
            "`error_message`, which no step has written before the entry step",
        ),
    ],
)
def test_what_nothing_wrote_may_not_be_read(tmp_path: Path, steps: tuple[str, ...], expected: str) -> None:
    assert expected in problems_of(tmp_path, *steps)


def test_it_must_be_written_on_every_way(tmp_path: Path) -> None:
    """The budget's two ways meet again, and a search on one of them empties what was rendered."""
    steps = (
        SEARCH.format("fetch"),
        FETCH.format("render"),
        RENDER.replace("next: end", "next: check"),
        "id: check, action: check_context_budget, on_ok: end, on_over_limit: again",
        "id: again, action: search_nodes, search_type: bm25, query_from: question, next: last",
        "id: last, action: check_context_budget, on_ok: end, on_over_limit: end",
    )
    (problem,) = problems_of(tmp_path, *steps)
    assert "on the path a -> fetch -> render -> check -> again -> last; 'render' would" in problem


def test_a_way_for_errors_leaves_what_was_there_and_tells_the_error(tmp_path: Path) -> None:
    failing = SEARCH.format("fetch, on_error: end")
    assert problems_of(tmp_path, failing, FETCH.format("render"), RENDER) == []
    (problem,) = problems_of(tmp_path, SEARCH.format("fetch, on_error: render"), FETCH.format("render"), RENDER)
    assert "on the path a -> render" in problem


def test_the_child_is_named_that_replaced_what_wrote(tmp_path: Path) -> None:
    (tmp_path / "child.yaml").write_text(
        "pipeline:\n  name: child\n  extends: trace\n  steps:\n"
        "    - {id: fetch, action: search_nodes, search_type: bm25, query_from: question, next: render}\n",
        encoding="utf-8",
    )
    with pytest.raises(DefinitionError) as caught:
        load_pipeline(str(tmp_path / "child.yaml"))
    place = {(Path(problem.file).name, problem.line, problem.key) for problem in caught.value.problems}
    assert ("child.yaml", 5, "steps.render") in place
    assert "a step replaces the whole of its parent's, as 'fetch' did" in str(caught.value)


@pytest.mark.parametrize("name", ["evidence", "quick_evidence", "trace", "rag_code_base", "rag_code_deep_graph"])
def test_the_library_hands_its_data_on(name: str) -> None:
    load_pipeline(name)


def test_a_mode_that_the_pipeline_has_not_is_refused_where_a_run_comes_to_it(tmp_path: Path) -> None:
    head = HEAD.replace("top_k: 3", "top_k: 3, retrieval_modes: [semantic]")
    steps = (SEARCH.format("fetch"), FETCH.format("render"), RENDER)
    (problem,) = problems_of(tmp_path, *steps, head=head)
    assert problem == "it.yaml:5: steps.a: searches by 'bm25', and settings.retrieval_modes has only 'semantic'"


def test_the_fields_that_are_named_exist() -> None:
    known = {field.name for field in fields(PipelineState)}
    assert {*RETRIEVED, *ERROR_FIELDS, *GIVEN} <= known
    given = PipelineState(user_question="q", repository="r", branch="b", retrieval_seed_nodes=["a"])
    given.clear_retrieval()
    assert not any(getattr(given, name) for name in RETRIEVED)
