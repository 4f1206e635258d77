"""The pipelines of the library besides `rag_code_base`."""

import asyncio
from pathlib import Path

import pytest

from groundwire_client import EdgeDirection, QueryResponse, Rerank, SearchType
from groundwire_pipelines.definition.loading import load_pipeline
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.pipeline import RunOptions
from support.pipeline_runs import INVOICE, RATES, SERVICE, Shop, assert_golden

ANSWERED = "[Answer:] VatService computes it."


@pytest.mark.parametrize(
    "name", ["evidence", "quick_evidence", "rag_code_base", "rag_code_semantic_only", "rag_code_deep_graph"]
)
def test_the_library_is_sound(name: str) -> None:
    definition = load_pipeline(name)
    assert definition.name == name
    assert definition.warnings == ()


def test_quick_evidence_is_one_call(ann: Shop) -> None:
    run = ann.run(pipeline="quick_evidence")
    assert run.steps == ["query", "check", "render", "finalize"]
    (call,) = run.retrieval.calls
    assert (call.method, call.arguments["query"]) == ("query", "where is VAT computed?")
    assert (call.arguments["hybrid"].top_k, call.arguments["include_parents"]) == (60, True)
    assert all(part in run.answer for part in (SERVICE, INVOICE, RATES, "decimal Vat() => Rates.Find();"))
    assert_golden("quick_evidence", run)


@pytest.mark.parametrize("pipeline", ["evidence", "quick_evidence"])
def test_evidence_of_weak_matches_says_so(ann: Shop, pipeline: str) -> None:
    (answer,) = ann.retrieval.queries
    assert isinstance(answer, QueryResponse)
    answer.matches[0].scores.dense = 0.2
    run = ann.run(pipeline=pipeline, question="zzz qqq")
    assert run.answer.endswith(
        "\n\nOnly weak matches were found in shop (main): the best have a similarity of 0.20 to the query and 0% of "
        "its words."
    )
    answer.matches[0].scores.dense = 0.3
    assert "weak" not in ann.run(pipeline=pipeline, question="zzz qqq").answer


def test_semantic_only_offers_and_takes_semantic_modes_alone(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", "[BM25:] vat", pipeline="rag_code_semantic_only")
    assert isinstance(run.failure, StepError)
    assert run.failure.rule == "mode-not-supported"
    assert "\n[SEMANTIC:]\n[SEMANTIC_RERANK:]\n[DIRECT:]\n" in run.prompts[0]


def test_semantic_only_follows_up_semantically(ann: Shop) -> None:
    request = "[Requesting data on:] the class Invoice"
    run = ann.run("[SEMANTIC:] vat", request, ANSWERED, pipeline="rag_code_semantic_only")
    assert run.answer == "VatService computes it."
    searches = [call.arguments for call in run.retrieval.calls if call.method == "search"]
    assert [(search["search_type"], search["rerank"]) for search in searches] == [
        (SearchType.SEARCH_TYPE_SEMANTIC, Rerank.RERANK_NONE),
        (SearchType.SEARCH_TYPE_SEMANTIC, Rerank.RERANK_KEYWORD),
    ]


PLANS = """
pipeline:
  name: plans
  extends: evidence
  settings: {entry_step_id: plan}
  steps:
    - {id: plan, action: call_model, prompt: plan, variables: [question], output: plan, next: search}
"""
ANSWERS = """
pipeline:
  name: answers
  extends: plans.yaml
  steps:
    - {id: render, action: render_context_blocks, next: ask}
    - {id: ask, action: call_model, prompt: ask, variables: [question, context], output: answer, next: end}
    - {id: end, action: persist_turn_and_finalize}
"""


def test_a_run_ends_with_the_last_answer_to_what_was_found(ann: Shop, tmp_path: Path) -> None:
    """No step translates the question, none reads a prefix, and a plan is no answer."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "plan.md").write_text("Plan: {{question}}", encoding="utf-8")
    (tmp_path / "prompts" / "ask.md").write_text("{{question}}\n{{context}}", encoding="utf-8")
    (tmp_path / "plans.yaml").write_text(PLANS, encoding="utf-8")
    (tmp_path / "answers.yaml").write_text(ANSWERS, encoding="utf-8")
    planned = ann.run("look for VAT", pipeline=str(tmp_path / "plans.yaml"))
    assert "decimal Vat()" in planned.answer
    assert "look for VAT" not in planned.answer
    talk = RunOptions(session_id="talk", user_id="ann")
    answered = Shop(ann.history).run("look", "VatService.", pipeline=str(tmp_path / "answers.yaml"), **talk)
    assert answered.answer == "VatService."
    assert answered.prompts[0] == "Plan: where is VAT computed?"
    assert answered.prompts[1].startswith("where is VAT computed?\n[1] src/")
    (turn,) = asyncio.run(ann.history.load("ann", "talk")).turns
    assert (turn.question_en, turn.answer) == ("where is VAT computed?", "VatService.")


def test_deep_graph_walks_far_and_both_ways(ann: Shop) -> None:
    run = ann.run("[HYBRID:] vat", ANSWERED, pipeline="rag_code_deep_graph")
    assert run.answer == "VatService computes it."
    search, expand, fetch, among = (call.arguments for call in run.retrieval.calls)
    assert search["top_k"] == 20
    assert (expand["max_depth"], expand["max_nodes"], expand["direction"]) == (
        4,
        400,
        EdgeDirection.EDGE_DIRECTION_BOTH,
    )
    assert (among["max_depth"], among["max_nodes"]) == (1, 2)
    assert fetch["seed_ids"] == (SERVICE, RATES)


@pytest.mark.parametrize(
    ("mode", "search_type"), [("semantic", SearchType.SEARCH_TYPE_SEMANTIC), ("bm25", SearchType.SEARCH_TYPE_BM25)]
)
def test_a_child_of_one_mode_needs_no_step_of_its_own(
    ann: Shop, tmp_path: Path, mode: str, search_type: SearchType
) -> None:
    child = tmp_path / "child.yaml"
    child.write_text(f"pipeline:\n  name: child\n  extends: rag_code_base\n  settings: {{retrieval_modes: [{mode}]}}\n")
    assert load_pipeline(str(child)).warnings == ()
    request = "[Requesting data on:] the class Invoice"
    run = ann.run(f"[{mode.upper()}:] vat", request, ANSWERED, pipeline=str(child))
    assert run.answer == "VatService computes it."
    searches = [call.arguments["search_type"] for call in run.retrieval.calls if call.method == "search"]
    assert searches == [search_type, search_type]
