from dataclasses import replace

import pytest
from pydantic import JsonValue

from groundwire_pipelines.actions.call_model import ACTION
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Message, ModelRequest, ResponseSchema
from support.model import conversation
from support.retrieval import make_state, run_action

ANSWER: dict[str, JsonValue] = {"prompt": "answer", "output": "reply", "protocol": "answer", "variables": ["question"]}
SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "count": {"type": "integer"}},
    "required": ["query"],
}


def test_the_answer_is_kept_with_its_prefix() -> None:
    run = conversation(" [BM25:] vat\n")
    state = make_state(user_question_en="where is VAT?")
    raw: dict[str, JsonValue] = {**ANSWER, "prompt": "router", "output": "plan", "protocol": "router"}
    outcome = run_action(ACTION, raw, state, run.runtime)
    assert state.last_model_response == "[BM25:] vat"
    assert state.outputs == {"plan": "[BM25:] vat"}
    assert outcome.transition == "next"
    assert run.model.prompts == ["router"]
    assert run.answer_parts == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("question", "where is VAT?"),
        ("history", "User: a"),
        ("context", "one\n\ntwo"),
        ("modes", "[SEMANTIC:]\n[BM25:]\n[DIRECT:]"),
        ("repository", "shop"),
        ("branch", "main"),
        ("mode", "bm25"),
        ("rewritten_question", "vat rates"),
        ("notes", "as they are"),
        ("plan.query", "VAT"),
        ("plan.parts", '["a", "ł"]'),
        ("plan.inner.Count", "3"),
    ],
)
def test_a_prompt_is_given_the_variables_that_its_step_names(variable: str, value: str) -> None:
    run = conversation("x", retrieval_modes=("bm25", "semantic"))
    state = make_state(
        user_question="Gdzie?",
        user_question_en="where is VAT?",
        history_for_prompt="User: a",
        context_blocks=["one", "two"],
        retrieval_mode="bm25",
        rewritten_question="vat rates",
        outputs={"notes": "as they are", "plan": {"query": "VAT", "parts": ["a", "ł"], "inner": {"Count": 3}}},
    )
    run_action(ACTION, {**ANSWER, "variables": [variable]}, state, run.runtime)
    assert run.prompts.given == [{variable: value}]


def test_what_is_absent_is_said_to_be() -> None:
    run = conversation("x")
    names: list[JsonValue] = ["history", "context", "mode", "rewritten_question"]
    run_action(ACTION, {**ANSWER, "variables": names}, make_state(user_question_en="where?"), run.runtime)
    assert run.prompts.given == [
        {
            "history": "(none)",
            "context": "No search was made in shop (main).",
            "mode": "(none)",
            "rewritten_question": "where?",
        }
    ]


@pytest.mark.parametrize(
    ("variable", "message"),
    [
        ("plan", "no step has written the output 'plan' yet; there are: notes"),
        ("notes.query", "the output 'notes' has no field 'query'"),
    ],
)
def test_an_output_that_is_not_there_is_named(variable: str, message: str) -> None:
    state = make_state(user_question_en="?", outputs={"notes": "text"})
    with pytest.raises(StepError, match=message) as caught:
        run_action(ACTION, {**ANSWER, "variables": [variable]}, state, conversation("x").runtime)
    assert caught.value.rule == "output-missing"


def test_outputs_stand_beside_each_other() -> None:
    state = make_state(user_question_en="?", outputs={"plan": "one"})
    run_action(ACTION, ANSWER, state, conversation("two").runtime)
    assert state.outputs == {"plan": "one", "reply": "two"}


def test_a_step_says_how_the_model_is_asked() -> None:
    run = conversation("x")
    raw: dict[str, JsonValue] = {
        **ANSWER,
        "system": "rules",
        "system_variables": ["repository"],
        "model": "large",
        "temperature": 0.5,
        "max_tokens": 100,
    }
    run_action(ACTION, raw, make_state(user_question_en="?"), run.runtime)
    assert run.model.requests == [
        ModelRequest(
            (Message("system", "rules"), Message("user", "answer")), model="large", temperature=0.5, max_tokens=100
        )
    ]
    assert run.prompts.given == [{"question": "?"}, {"repository": "shop"}]


def test_what_a_step_does_not_say_is_the_endpoints() -> None:
    run = conversation("x")
    run_action(ACTION, ANSWER, make_state(user_question_en="?"), run.runtime)
    assert run.model.requests == [ModelRequest((Message("user", "answer"),))]


@pytest.mark.parametrize("given", [SCHEMA, "plan_schema"])
def test_an_answer_by_a_schema_is_kept_as_its_value(given: JsonValue) -> None:
    run = conversation('```json\n{"query": "VAT", "count": 2}\n```')
    run.prompts.schemas["plan_schema"] = SCHEMA
    raw: dict[str, JsonValue] = {**ANSWER, "output": "plan", "protocol": "none", "response_schema": given}
    state = make_state(user_question_en="?")
    run_action(ACTION, raw, state, run.runtime)
    assert run.model.requests[0].response_schema == ResponseSchema("plan", SCHEMA)
    assert state.outputs == {"plan": {"query": "VAT", "count": 2}}


@pytest.mark.parametrize(
    ("answer", "rule", "message"),
    [
        ("VAT", "response-malformed", "must be JSON, and is none"),
        ('{"query": "VAT"', "response-malformed", "must be JSON"),
        ('{"query": NaN}', "response-malformed", "NaN is no number of JSON"),
        ("[" * 100_000, "response-malformed", "nested too deep"),
        ('{"count": 2}', "response-mismatched", r"at \$: required: \[\"query\"\]"),
        ('{"query": "VAT", "count": "two"}', "response-mismatched", r"at \$\.count: type: \"integer\""),
    ],
)
def test_an_answer_that_its_schema_refuses_fails_the_step(answer: str, rule: str, message: str) -> None:
    raw: dict[str, JsonValue] = {**ANSWER, "protocol": "none", "response_schema": SCHEMA}
    state = make_state(user_question_en="?")
    with pytest.raises(StepError, match=message) as caught:
        run_action(ACTION, raw, state, conversation(answer).runtime)
    assert (caught.value.rule, state.outputs) == (rule, {})


THOUGHTS = "<think>\nIs [Answer:] right? [Requesting data on:] no.\n</think>\n\n"


@pytest.mark.parametrize(
    ("thoughts", "streamed"),
    [(THOUGHTS, "A tax."), (f"{THOUGHTS}<thinking>More.</thinking>", "A tax."), (THOUGHTS[8:], "")],
)
def test_what_a_model_thinks_aloud_is_neither_told_nor_kept(thoughts: str, streamed: str) -> None:
    run = conversation(f"{thoughts}[Answer:] A tax.")
    state = make_state(user_question_en="?")
    run_action(ACTION, ANSWER, state, run.runtime)
    assert ("".join(run.answer_parts), state.last_model_response) == (streamed, "[Answer:] A tax.")


@pytest.mark.parametrize("answer", [" \n", "<think>Nothing but thoughts", "<think>a</think>\n"])
def test_an_answer_of_nothing_is_asked_for_once_more(answer: str) -> None:
    run = conversation(answer, "[Answer:] A tax.")
    state = make_state(user_question_en="?")
    run_action(ACTION, ANSWER, state, run.runtime)
    assert (state.last_model_response, "".join(run.answer_parts)) == ("[Answer:] A tax.", "A tax.")
    assert [message.role for message in run.model.requests[1].messages] == ["user", "user"]
    assert run.model.prompts[1] == "Your answer cannot be used: it is empty. Answer once more, as you were asked to."
    run = conversation(answer, answer)
    with pytest.raises(StepError) as caught:
        run_action(ACTION, ANSWER, make_state(user_question_en="?"), run.runtime)
    assert (caught.value.rule, run.answer_parts) == ("model-answer-empty", [])


@pytest.mark.parametrize(
    ("answer", "streamed"),
    [("[Answer:] It is a tax.", "It is a tax."), ("[Requesting data on:] VatService", ""), ("It is a tax.", "")],
)
def test_only_a_final_answer_is_told_as_it_comes(answer: str, streamed: str) -> None:
    run = conversation(answer)
    run_action(ACTION, ANSWER, make_state(user_question_en="?"), run.runtime)
    assert "".join(run.answer_parts) == streamed
    assert len(run.answer_parts) == len(streamed)


def test_an_answer_that_is_to_be_translated_is_not_told() -> None:
    run = conversation("[Answer:] It is a tax.")
    run_action(ACTION, ANSWER, make_state(user_question_en="?", is_english=False), run.runtime)
    assert run.answer_parts == []


def test_nobody_need_listen() -> None:
    run = conversation("[Answer:] It is a tax.")
    state = make_state(user_question_en="?")
    run_action(ACTION, ANSWER, state, replace(run.runtime, on_answer=None))
    assert state.last_model_response == "[Answer:] It is a tax."


def test_a_model_is_needed() -> None:
    runtime = replace(conversation().runtime, model=None)
    with pytest.raises(StepError, match="the run was given none") as caught:
        run_action(ACTION, ANSWER, make_state(user_question_en="?"), runtime)
    assert caught.value.rule == "model-missing"


def test_an_english_question_needs_no_translation() -> None:
    run = conversation("x")
    run_action(ACTION, ANSWER, make_state(user_question=" where is VAT? "), run.runtime)
    assert run.prompts.given == [{"question": "where is VAT?"}]


def test_another_question_must_be_known_in_english() -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, ANSWER, make_state(is_english=False), conversation().runtime)
    assert caught.value.rule == "question-not-translated"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"output": "question"}, "output-reserved"),
        ({"output": "last_model_response"}, "output-reserved"),
        ({"output": "Reply"}, "output-malformed"),
        ({"output": "a.b"}, "output-malformed"),
        ({"protocol": "prefix"}, "protocol-malformed"),
        ({"variables": ["con text"]}, "variables-malformed"),
        ({"prompt": ""}, "prompt-malformed"),
        ({"temperature": 3}, "temperature-malformed"),
        ({"max_tokens": 0}, "max-tokens-malformed"),
        ({"system_variables": ["question"]}, "system-missing"),
        ({"response_schema": SCHEMA}, "protocol-not-none"),
        ({"protocol": "none", "response_schema": {"type": "object", "required": 3}}, "response-schema-malformed"),
        ({"protocol": "none", "response_schema": {"$ref": "#"}}, "response-schema-malformed"),
        ({"protocol": "none", "response_schema": {"$ref": "http://127.0.0.1:1/a"}}, "response-schema-malformed"),
    ],
)
def test_keys_are_checked(change: dict[str, JsonValue], rule: str) -> None:
    with pytest.raises(StepError) as caught:
        run_action(ACTION, {**ANSWER, **change}, make_state(), conversation().runtime)
    assert caught.value.rule == rule


def test_its_files_are_known_before_it_runs() -> None:
    settings = ACTION.settings(
        prompt="answer",
        variables=("question", "context"),
        system="rules",
        system_variables=("plan.query",),
        output="reply",
        response_schema="plan",
    )
    assert ACTION.prompts_of(settings) == {
        "answer": frozenset({"question", "context"}),
        "rules": frozenset({"plan.query"}),
    }
    assert ACTION.schemas_of(settings) == ("plan",)
    flow = ACTION.data_of(settings)
    assert (flow.reads, flow.writes) == (
        ("context_blocks", "outputs.plan"),
        ("last_model_response", "model_answer", "outputs.reply"),
    )
