"""`check_context_budget` and `summarize_context`."""

from typing import Any

import pytest

from groundwire_client import ExpandedNode
from groundwire_pipelines.actions import check_context_budget, summarize_context
from groundwire_pipelines.actions.definition import Action
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import PipelineState
from support.model import Conversation, conversation
from support.retrieval import make_state, run_action

PROMPT = {"prompt": "summarize_context"}
A, A1, B = "shop::main::cs::A", "shop::main::cs::A.1", "shop::main::sql::dbo.B|TABLE"


def make_evidence(**fields: object) -> PipelineState:
    given = {
        "user_question_en": "where is VAT?",
        "retrieval_seed_nodes": [A, A1],
        "graph_expanded_nodes": [ExpandedNode(A, 0), ExpandedNode(B, 1, A)],
        "context_blocks": [f"node: {A}\ncode of a", f"node: {B}\ngraph: depth 1, from {A}\ncode of b"],
    }
    return make_state(**{**given, **fields})


@pytest.mark.parametrize(("limit", "transition"), [(15, "on_ok"), (14, "on_over_limit")])
def test_the_evidence_is_compared_with_its_budget(limit: int, transition: str) -> None:
    run = conversation(max_context_tokens=limit)
    outcome = run_action(check_context_budget.ACTION, {}, make_evidence(), run.runtime)
    assert outcome.transition == transition
    assert outcome.detail == {"context_tokens": 15, "max_context_tokens": limit}


def test_evidence_of_earlier_loops_counts_once() -> None:
    state = make_evidence(earlier_context_blocks=["one two", f"node: {A}\ncode of a"])
    outcome = run_action(check_context_budget.ACTION, {}, state, conversation().runtime)
    assert outcome.detail["context_tokens"] == 17


@pytest.mark.parametrize("limit", [None, 0, -1])
@pytest.mark.parametrize("action", [check_context_budget.ACTION, summarize_context.ACTION], ids=lambda it: it.name)
def test_the_budget_must_be_above_0(action: Action[Any], limit: int | None) -> None:
    run = conversation(max_context_tokens=limit)
    raw = PROMPT if action is summarize_context.ACTION else {}
    with pytest.raises(StepError) as caught:
        run_action(action, raw, make_evidence(), run.runtime)
    assert caught.value.rule == "max-context-tokens-missing"


def summarize(run: Conversation, state: PipelineState) -> None:
    run_action(summarize_context.ACTION, PROMPT, state, run.runtime)


def test_the_summary_takes_the_place_of_all_evidence() -> None:
    run = conversation(f" {A} calls {B}. \n", max_context_tokens=5)
    state = make_evidence(earlier_context_blocks=["earlier"])
    context = "\n\n".join(["earlier", *state.context_blocks])
    summarize(run, state)
    assert run.model.prompts == ["summarize_context"]
    assert run.prompts.given == [
        {
            "question": "where is VAT?",
            "context": context,
            "identifiers": f"{A}\n{B}",
            "max_tokens": "5",
            "correction": "",
        }
    ]
    assert state.context_blocks == [f"{A} calls {B}."]
    assert state.earlier_context_blocks == []
    assert run.told == []


@pytest.mark.parametrize(
    ("bad", "correction"),
    [
        ("nothing", f"the summary of the evidence lost these ids: {A}, {B}"),
        (f"{A}", f"the summary of the evidence lost these ids: {B}"),
        # The id of one node is the beginning of another's.
        (f"{A1} {B}", f"the summary of the evidence lost these ids: {A}"),
        (f"{A}2 {B}", f"the summary of the evidence lost these ids: {A}"),
        (f"{A.lower()} {B}", f"the summary of the evidence lost these ids: {A}"),
        (f"{A} {B} a b c d", "the summary of the evidence takes 6 tokens of 5"),
    ],
)
def test_a_bad_summary_goes_back_once_with_what_is_wrong(bad: str, correction: str) -> None:
    run = conversation(bad, f"{A}, {B}", max_context_tokens=5)
    state = make_evidence()
    summarize(run, state)
    assert state.context_blocks == [f"{A}, {B}"]
    corrections = [given["correction"] for given in run.prompts.given]
    assert corrections == ["", f"Your last attempt was refused: {correction}"]


@pytest.mark.parametrize(
    ("bad", "rule"), [(f"{A} only", "identifiers-lost"), (f"{A} {B} a b c d", "context-over-budget")]
)
def test_a_second_bad_summary_ends_the_run(bad: str, rule: str) -> None:
    run = conversation("nothing", bad, max_context_tokens=5)
    state = make_evidence()
    with pytest.raises(StepError) as caught:
        summarize(run, state)
    assert caught.value.rule == rule
    assert state.context_blocks == make_evidence().context_blocks


def test_ids_of_earlier_loops_are_kept_too() -> None:
    earlier = "shop::main::cs::Z"
    run = conversation(f"{A} {B}", f"{A} {B} ({earlier})", max_context_tokens=5)
    state = make_evidence(earlier_context_blocks=[f"node: {earlier}"], earlier_node_ids=[earlier])
    summarize(run, state)
    assert run.prompts.given[1]["correction"].endswith(f"lost these ids: {earlier}")


def test_a_node_that_the_evidence_does_not_show_need_not_be_kept() -> None:
    run = conversation(f"{A} {B}", max_context_tokens=5)
    summarize(run, make_evidence())
    assert A1 not in run.prompts.given[0]["identifiers"].split("\n")


def test_the_question_must_be_known_in_english() -> None:
    with pytest.raises(StepError) as caught:
        summarize(conversation(), make_evidence(user_question_en=""))
    assert caught.value.rule == "question-not-translated"
