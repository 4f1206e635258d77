"""The pipelines of the library besides `rag_code_base`."""

import asyncio
from pathlib import Path

import pytest

from groundwire_client import Retriever
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.pipeline import RunOptions
from support.gathered import gathered, passage
from support.pipeline_runs import RATES, SERVICE, Shop, assert_golden
from support.retrieval import FakeRetrieval

ANSWERED = "[Answer:] VatService computes it."


@pytest.mark.parametrize(
    "name", ["evidence", "quick_evidence", "rag_code_base", "rag_code_semantic_only", "rag_code_deep_graph"]
)
def test_the_library_is_sound(name: str) -> None:
    definition = load_pipeline(name)
    assert definition.name == name
    assert definition.warnings == ()


@pytest.mark.parametrize(("name", "graph_share"), [("evidence", 0.25), ("quick_evidence", 0.0)])
def test_evidence_is_one_call(ann: Shop, name: str, graph_share: float) -> None:
    run = ann.run(pipeline=name)
    assert run.steps == ["gather", "finalize"]
    (call,) = run.retrieval.calls
    assert (call.method, call.arguments["question"]) == ("evidence", "where is VAT computed?")
    assert (call.arguments["budget_tokens"], call.arguments["graph_share"]) == (8_000, graph_share)
    assert all(part in run.answer for part in (SERVICE, RATES, "decimal Vat() => Rates.Find();"))
    assert_golden(name, run)


@pytest.mark.parametrize("pipeline", ["evidence", "quick_evidence"])
def test_evidence_of_weak_matches_says_so(ann: Shop, pipeline: str) -> None:
    ann.retrieval = FakeRetrieval(gatherings=[gathered(passage(SERVICE), weak="nothing is like it")])
    run = ann.run(pipeline=pipeline, question="zzz qqq")
    assert run.answer.startswith("This is probably no answer: nothing is like it.\n")


def test_semantic_only_offers_and_takes_semantic_modes_alone(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", "[BM25:] vat", pipeline="rag_code_semantic_only")
    assert isinstance(run.failure, StepError)
    assert run.failure.rule == "mode-not-supported"
    assert "\n[SEMANTIC:]\n[SEMANTIC_RERANK:]\n[DIRECT:]\n" in run.prompts[0]


def test_semantic_only_follows_up_semantically(ann: Shop) -> None:
    request = "[Requesting data on:] the class Invoice"
    run = ann.run("[SEMANTIC:] vat", request, ANSWERED, pipeline="rag_code_semantic_only")
    assert run.answer == "VatService computes it."
    assert [call.arguments["retrievers"] for call in run.retrieval.calls] == [[Retriever.RETRIEVER_DENSE]] * 2


PLANS = """
pipeline:
  name: plans
  extends: evidence
  settings: {entry_step_id: plan}
  steps:
    - {id: plan, action: call_model, prompt: plan, variables: [question], output: plan, next: gather}
"""
ANSWERS = """
pipeline:
  name: answers
  extends: plans.yaml
  steps:
    - {id: gather, action: gather_evidence, query_from: question, next: ask}
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
    assert answered.prompts[1].startswith("where is VAT computed?\nsrc/")
    (turn,) = asyncio.run(ann.history.load("ann", "talk")).turns
    assert (turn.question_en, turn.answer) == ("where is VAT computed?", "VatService.")


def test_deep_graph_gathers_more_and_half_of_it_by_edges(ann: Shop) -> None:
    run = ann.run("[HYBRID:] vat", ANSWERED, pipeline="rag_code_deep_graph")
    assert run.answer == "VatService computes it."
    (call,) = run.retrieval.calls
    assert (call.arguments["budget_tokens"], call.arguments["graph_share"]) == (24_000, 0.5)


@pytest.mark.parametrize(
    ("mode", "retrievers"),
    [
        ("semantic", [Retriever.RETRIEVER_DENSE]),
        ("bm25", [Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE, Retriever.RETRIEVER_TRIGRAM]),
    ],
)
def test_a_child_of_one_mode_needs_no_step_of_its_own(
    ann: Shop, tmp_path: Path, mode: str, retrievers: list[Retriever.ValueType]
) -> None:
    child = tmp_path / "child.yaml"
    child.write_text(f"pipeline:\n  name: child\n  extends: rag_code_base\n  settings: {{retrieval_modes: [{mode}]}}\n")
    assert load_pipeline(str(child)).warnings == ()
    request = "[Requesting data on:] the class Invoice"
    run = ann.run(f"[{mode.upper()}:] vat", request, ANSWERED, pipeline=str(child))
    assert run.answer == "VatService computes it."
    assert [call.arguments["retrievers"] for call in run.retrieval.calls] == [retrievers, retrievers]
