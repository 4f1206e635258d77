"""What a `query` step refuses, and the rule that it names."""

from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from groundwire_pipelines.actions.query import ACTION
from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.definition.pipeline_file import read_document
from groundwire_pipelines.errors import DefinitionError, StepError
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.validation.schema import pipeline_schema
from support.retrieval import FakeRetrieval, make_runtime, make_state, run_action

WRONG = """\
pipeline:
  name: mine
  settings: {entry_step_id: ask}
  steps:
    - id: ask
      action: query
      alpha: 1.5
      fusion: rff
      retrievers: [dense, vector]
      vec_limit: 0
      topk: 3
      next: end
    - id: end
      action: finalize
"""


def refused(raw: dict[str, JsonValue], fields: dict[str, str], settings: dict[str, Any]) -> str:
    """The rule that a step breaks before it asks the server."""
    retrieval = FakeRetrieval()
    state = make_state(**{"last_model_response": "tax", **fields})
    with pytest.raises(StepError) as caught:
        run_action(ACTION, raw, state, make_runtime(retrieval, **settings))
    assert retrieval.calls == []
    return caught.value.rule


@pytest.mark.parametrize(
    ("rule", "raw", "fields", "settings"),
    [
        ("repository-required", {}, {"repository": ""}, {}),
        ("branch-required", {}, {"branch": ""}, {}),
        ("query-empty", {}, {"last_model_response": " \n "}, {}),
        ("query-empty", {"query_parser": "jsonish"}, {"last_model_response": '{"query": ""}'}, {}),
        ("query-parser-unknown", {"query_parser": "xml"}, {}, {}),
        ("output-missing", {"query_from": "history"}, {}, {}),
        ("top-k-missing", {}, {}, {"top_k": None}),
        ("max-context-tokens-missing", {}, {}, {"max_context_tokens": None}),
        ("budget-not-positive", {}, {}, {"max_context_tokens": 1}),
    ],
)
def test_fails_fast(rule: str, raw: dict[str, JsonValue], fields: dict[str, str], settings: dict[str, Any]) -> None:
    assert refused(raw, fields, settings) == rule


@pytest.mark.parametrize(
    ("rule", "raw"),
    [
        ("top-k-not-positive", {"top_k": 0}),
        ("top-k-malformed", {"top_k": "many"}),
        ("alpha-malformed", {"alpha": 1.01}),
        ("alpha-malformed", {"alpha": -0.01}),
        ("min-sim-malformed", {"min_sim": 2}),
        ("trgm-limit-malformed", {"trgm_limit": -1}),
        ("vec-limit-malformed", {"vec_limit": 0}),
        ("vec-limit-malformed", {"vec_limit": 10_001}),
        ("lex-limit-malformed", {"lex_limit": 0}),
        ("lex-limit-malformed", {"lex_limit": 10_001}),
        ("max-candidates-malformed", {"max_candidates": 0}),
        ("max-candidates-too-few", {"max_candidates": 9, "top_k": 10}),
        ("max-candidates-too-few", {"max_candidates": 9, "vec_limit": 10}),
        ("max-candidates-too-few", {"max_candidates": 9, "lex_limit": 10}),
        ("diversify-strength-malformed", {"diversify_strength": 1.5}),
        ("retriever-unknown", {"retrievers": ["vector"]}),
        ("retriever-repeated", {"retrievers": ["dense", "dense"]}),
        ("retrievers-malformed", {"retrievers": "dense"}),
        ("fusion-unknown", {"fusion": "sum"}),
        ("rrf-k-not-positive", {"fusion": "rrf", "rrf_k": 0}),
        ("rrf-k-not-positive", {"fusion": "weighted", "rrf_k": 0}),
        ("rrf-k-too-great", {"fusion": "rrf", "rrf_k": 2**31}),
        ("rrf-k-malformed", {"rrf_k": "many"}),
        ("rerank-malformed", {"rerank": "codebert_rerank"}),
        ("freshness-half-life-days-malformed", {"freshness_half_life_days": -1}),
        ("freshness-half-life-days-malformed", {"freshness_half_life_days": 36_501}),
        ("freshness-weight-malformed", {"freshness_weight": 1.1}),
        ("include-parents-malformed", {"include_parents": "yes"}),
        ("include-neighbors-malformed", {"include_neighbors": 1}),
        ("budget-not-positive", {"budget_tokens": 0}),
        ("search-type-unknown", {"search_type": "hybrid"}),
    ],
)
def test_refuses_keys_out_of_their_bounds(rule: str, raw: dict[str, JsonValue]) -> None:
    assert refused(raw, {}, {}) == rule


@pytest.mark.parametrize(
    "raw",
    [
        {"alpha": 0, "min_sim": 0, "trgm_limit": 0, "diversify_strength": 0, "freshness_weight": 0},
        {"alpha": 1, "min_sim": 1, "trgm_limit": 1, "diversify_strength": 1, "freshness_weight": 1},
        {
            "vec_limit": 1,
            "lex_limit": 1,
            "max_candidates": 1,
            "fusion": "rrf",
            "rrf_k": 1,
            "top_k": 1,
            "budget_tokens": 1,
        },
        {"vec_limit": 10_000, "lex_limit": 10_000, "max_candidates": 2**31 - 1},
        {"fusion": "rrf", "rrf_k": 2**31 - 1},
        {"freshness_half_life_days": 0},
        {"freshness_half_life_days": 36_500},
    ],
)
def test_takes_keys_at_their_bounds(raw: dict[str, JsonValue]) -> None:
    retrieval = FakeRetrieval()
    run_action(ACTION, raw, make_state(last_model_response="tax"), make_runtime(retrieval))
    assert retrieval.methods == ["query"]


def test_an_answer_from_another_index_than_the_pinned_one_fails() -> None:
    state = make_state(last_model_response="tax", active_index="2025-12-31_main")
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {}, state, make_runtime(FakeRetrieval()))
    assert caught.value.rule == "index-changed"
    assert (state.retrieval_seed_nodes, state.node_texts) == ([], [])


def test_what_does_not_fit_the_wire_fails_as_a_step() -> None:
    retrieval = FakeRetrieval(queries=[ValueError("surrogates not allowed")])
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {}, make_state(last_model_response="\ud800"), make_runtime(retrieval))
    assert caught.value.rule == "request-unsendable"


def test_a_file_with_a_wrong_step_is_refused_with_every_problem_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(WRONG)
    with pytest.raises(DefinitionError) as caught:
        load_pipeline(str(path))
    problems = [(problem.line, problem.key, problem.message) for problem in caught.value.problems]
    assert sorted(problems) == [
        (7, "steps.ask.alpha", "must be less than or equal to 1, not 1.5"),
        (8, "steps.ask.fusion", "'rff' is unknown: use one of adaptive, rrf, weighted"),
        (9, "steps.ask.retrievers.1", "'vector' is unknown: use one of dense, bm25_code, bm25_prose, trigram"),
        (10, "steps.ask.vec_limit", "must be greater than or equal to 1, not 0"),
        (11, "steps.ask.topk", "unknown key; did you mean 'top_k'?"),
    ]
    schema = Draft202012Validator(pipeline_schema(actions()))
    refused_keys = {error.absolute_path[-1] for error in schema.iter_errors(read_document(path).plain())}
    assert refused_keys >= {"alpha", "fusion", 1, "vec_limit"}


def test_a_file_must_give_the_settings_that_a_step_needs(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    lines = [line for line in WRONG.splitlines() if line.strip().split(":")[0] not in ("alpha", "fusion", "topk")]
    path.write_text("\n".join(line for line in lines if "retrievers" not in line and "vec_limit" not in line))
    with pytest.raises(DefinitionError) as caught:
        load_pipeline(str(path))
    keys = [problem.key for problem in caught.value.problems if problem.key.startswith("settings.")]
    assert keys == ["settings.top_k", "settings.max_context_tokens"]
