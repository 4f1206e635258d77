from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import JsonValue

from groundwire_pipelines.actions.handle_prefix import ACTION
from groundwire_pipelines.errors import DefinitionError, StepError
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.runtime import AnsweredCall, Message, ModelRequest
from support.model import conversation
from support.retrieval import make_state, run_action

ROUTER: dict[str, JsonValue] = {"protocol": "router"}
ANSWER: dict[str, JsonValue] = {"protocol": "answer"}


@pytest.mark.parametrize(
    ("prefix", "mode"),
    [
        ("[SEMANTIC:]", "semantic"),
        ("[SEMANTIC_RERANK:]", "semantic_rerank"),
        ("[BM25:]", "bm25"),
        ("[HYBRID:]", "hybrid"),
        ("[DIRECT:]", "direct"),
    ],
)
def test_the_routers_choice_is_the_transition(prefix: str, mode: str) -> None:
    state = make_state(last_model_response=f"{prefix} vat")
    outcome = run_action(ACTION, ROUTER, state, conversation().runtime)
    assert outcome.transition == f"on_{mode}"
    assert (state.retrieval_mode, state.last_model_response, state.rewritten_question) == (mode, "vat", "vat")
    assert state.final_answer_en == ""


@pytest.mark.parametrize("mode", ["SEMANTIC", "SEMANTIC_RERANK", "BM25", "HYBRID"])
def test_a_mode_that_the_settings_do_not_admit_is_refused(mode: str) -> None:
    run = conversation(retrieval_modes=tuple({"semantic", "semantic_rerank", "bm25", "hybrid"} - {mode.lower()}))
    state = make_state(last_model_response=f"[{mode}:] vat")
    with pytest.raises(StepError, match=f"the router chose {mode.lower()!r}") as caught:
        run_action(ACTION, ROUTER, state, run.runtime)
    assert caught.value.rule == "mode-not-supported"


def test_no_retrieval_is_always_admitted() -> None:
    state = make_state(last_model_response="[DIRECT:]")
    outcome = run_action(ACTION, ROUTER, state, conversation(retrieval_modes=("bm25",)).runtime)
    assert outcome.transition == "on_direct"


def test_an_answer_is_final() -> None:
    state = make_state(last_model_response="[Answer:] It is\na tax.", retrieval_mode="bm25")
    outcome = run_action(ACTION, ANSWER, state, conversation().runtime)
    assert outcome.transition == "on_answer"
    assert state.final_answer_en == state.last_model_response == "It is\na tax."
    assert state.retrieval_mode == "bm25"


def test_a_request_is_no_answer() -> None:
    state = make_state(last_model_response="[Requesting data on:] VatService")
    outcome = run_action(ACTION, ANSWER, state, conversation().runtime)
    assert outcome.transition == "on_request"
    assert (state.last_model_response, state.final_answer_en) == ("VatService", "")


@pytest.mark.parametrize(
    ("protocol", "text"), [("router", "[Answer:] x"), ("answer", "[BM25:] x"), ("router", ""), ("answer", "")]
)
def test_what_does_not_follow_the_protocol_ends_the_run(protocol: str, text: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {"protocol": protocol}, make_state(last_model_response=text), conversation().runtime)
    assert caught.value.rule == "prefix-malformed"


OWN: dict[str, JsonValue] = {"prefixes": {"[CODE:]": "code", "[DOCS:]": "docs", "[CODE_TOO:]": "code"}}


@pytest.mark.parametrize(
    ("text", "name", "query"),
    [("[CODE:] vat", "code", "vat"), ("\n[DOCS:]\n", "docs", ""), ("[CODE_TOO:]x [Answer:]", "code", "x [Answer:]")],
)
def test_a_router_may_have_prefixes_of_its_own(text: str, name: str, query: str) -> None:
    state = make_state(last_model_response=text)
    outcome = run_action(ACTION, OWN, state, conversation(retrieval_modes=("bm25",)).runtime)
    assert outcome.transition == f"on_{name}"
    assert (state.retrieval_mode, state.last_model_response, state.rewritten_question) == (name, query, query)


@pytest.mark.parametrize(
    "text", ["[BM25:] vat", "vat", "[code:] vat", "[CODE:] vat\n[DOCS:] vat", "[CODE:] [DOCS:] vat"]
)
def test_own_prefixes_are_the_only_ones_and_there_is_one(text: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, OWN, make_state(last_model_response=text), conversation().runtime)
    assert caught.value.rule == "prefix-malformed"


CALL = AnsweredCall(ModelRequest((Message("user", "Plan."),), model="large"), "[code:] vat", "plan")


def test_the_model_is_asked_once_more_for_a_prefix_that_cannot_be_read() -> None:
    run = conversation("[CODE:] vat")
    state = make_state(last_model_response=CALL.answer, answered_call=CALL, outputs={"plan": CALL.answer})
    outcome = run_action(ACTION, OWN, state, run.runtime)
    assert (outcome.transition, outcome.detail["asked_again"]) == ("on_code", "prefix-malformed")
    assert (state.last_model_response, state.outputs) == ("vat", {"plan": "[CODE:] vat"})
    (request,) = run.model.requests
    user, answer, problem = request.messages
    assert (request.model, user, answer) == ("large", Message("user", "Plan."), Message("assistant", CALL.answer))
    assert problem.text == (
        "Your answer cannot be used: the router's line must start with one of [CODE:] [DOCS:] [CODE_TOO:], spelt "
        "exactly so. Answer once more, as you were asked to."
    )


@pytest.mark.parametrize(
    ("raw", "bad", "good", "problem"),
    [
        (ROUTER, '[HYBRID:] {"query": "", "filters": {"kind": "cs"}}', "[HYBRID:] vat", "the query in it is empty"),
        (ROUTER, f"[BM25:] {'x' * 8_193}", "[BM25:] vat", "the query in it has 8193 characters"),
        (ANSWER, '[Requesting data on:] {"query": ""}', "[Requesting data on:] vat", "the query in it is empty"),
        (ANSWER, f"[Requesting data on:] {'x' * 8_193}", "[Requesting data on:] vat", "has 8193 characters"),
    ],
)
def test_the_model_is_asked_once_more_for_a_query_that_is_empty_or_too_long(
    raw: dict[str, JsonValue], bad: str, good: str, problem: str
) -> None:
    run = conversation(good)
    state = make_state(last_model_response=bad, answered_call=replace(CALL, answer=bad))
    outcome = run_action(ACTION, raw, state, run.runtime)
    assert (state.last_model_response, outcome.detail["asked_again"]) == ("vat", "query-unusable")
    assert problem in run.model.prompts[0]
    run, state = conversation(bad), make_state(last_model_response=bad, answered_call=replace(CALL, answer=bad))
    with pytest.raises(StepError) as caught:
        run_action(ACTION, raw, state, run.runtime)
    assert caught.value.rule == "query-unusable"


def test_an_answer_that_quotes_a_marker_again_is_the_answer() -> None:
    quoting = "[Answer:] A model asks with\n[Requesting data on:] and a text."
    run = conversation(quoting)
    state = make_state(last_model_response=quoting, answered_call=replace(CALL, answer=quoting))
    assert run_action(ACTION, ANSWER, state, run.runtime).transition == "on_answer"
    assert state.final_answer_en == "A model asks with\n[Requesting data on:] and a text."


def test_a_text_that_is_no_answer_of_the_last_call_is_not_asked_for_again() -> None:
    run = conversation("[CODE:] vat")
    with pytest.raises(StepError):
        run_action(ACTION, OWN, make_state(last_model_response="another", answered_call=CALL), run.runtime)
    assert run.model.requests == []


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        ({}, "protocol-or-prefixes"),
        ({**OWN, "protocol": "router"}, "protocol-or-prefixes"),
        ({"prefixes": {}}, "prefixes-malformed"),
        ({"prefixes": {"[A:]": "Not a name"}}, "prefixes-malformed"),
        ({"prefixes": {" [A:]": "a"}}, "prefix-unreadable"),
        ({"prefixes": {"": "a"}}, "prefix-unreadable"),
        ({"prefixes": {"[A\nB:]": "a"}}, "prefix-unreadable"),
        ({"prefixes": {"CODE": "a", "CODE_TOO": "b"}}, "prefix-ambiguous"),
    ],
)
def test_a_table_of_prefixes_is_checked(raw: dict[str, JsonValue], rule: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, raw, make_state(last_model_response="[A:] x"), conversation().runtime)
    assert caught.value.rule == rule


def test_transitions_of_own_prefixes_are_known_before_a_run(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    steps = """
pipeline:
  name: own
  extends: evidence
  settings: {entry_step_id: ask}
  steps:
    - {id: ask, action: call_model, prompt: say, output: plan, variables: [repository], next: read}
    - {id: read, action: handle_prefix, prefixes: {"[CODE:]": code, "[DOCS:]": docs}, on_code: gather, %s: gather}
"""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "say.md").write_text("{{repository}}", encoding="utf-8")
    file.write_text(steps % "on_docs")
    load_pipeline(str(file))
    file.write_text(steps % "on_bm25")
    with pytest.raises(DefinitionError) as caught:
        load_pipeline(str(file))
    assert [problem.key for problem in caught.value.problems] == ["steps.read.on_docs", "steps.read.on_bm25"]


def test_its_transitions_follow_from_its_protocol() -> None:
    assert ACTION.transitions_of is not None
    router = ACTION.transitions_of(ACTION.settings(protocol="router"))
    answer = ACTION.transitions_of(ACTION.settings(protocol="answer"))
    assert router == ("on_semantic", "on_semantic_rerank", "on_bm25", "on_hybrid", "on_direct")
    assert answer == ("on_answer", "on_request")
    assert ACTION.transitions == (*router, *answer)
