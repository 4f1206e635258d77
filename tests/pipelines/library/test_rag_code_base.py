"""The whole pipeline `rag_code_base`, a golden trace for each way through it."""

import pytest
from pydantic import JsonValue

from groundwire.tokens import TokenCounter
from groundwire_client import GatherEvidenceResponse, Retriever
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.pipeline import RunOptions
from groundwire_pipelines.runtime import Turn
from support.gathered import INDEX, gathered, passage
from support.openai_server import Reply
from support.pipeline_runs import INVOICE, RATES, SERVICE, Shop, assert_golden, shop
from support.retrieval import FakeRetrieval

ANSWERED = "[Answer:] VatService computes it."
TALK = RunOptions(user_id="ann", session_id="talk")
LEXICAL = [Retriever.RETRIEVER_BM25_CODE, Retriever.RETRIEVER_BM25_PROSE, Retriever.RETRIEVER_TRIGRAM]
WEAK = gathered(passage(SERVICE), weak="none of the best matches has a word of the question")
OVER = ("[BM25:] vat", "[Requesting data on:] the class Invoice")
"""Two retrievals, whose evidence together is over the budget of SUMMARISES, and that of either is not."""
REQUESTS = ("[Requesting data on:] the class Invoice", "[Requesting data on:] the table of rates")
SUMMARISES: dict[str, JsonValue] = {"max_context_tokens": 94, "evidence_factor": 3}
"""Show twice the budget, for a summary."""


def turn(topic: str) -> Turn:
    question, answer = f"What about {topic}?", f"{topic} is {'very ' * 40}well."
    return Turn(question, question, answer, answer)


def test_a_direct_answer_searches_for_nothing(ann: Shop) -> None:
    run = ann.run("[DIRECT:]", "[Answer:] VAT is a tax.", question="What is VAT?")
    assert run.answer == run.streamed_answer == "VAT is a tax."
    assert run.steps == [
        "translate_in",
        "load_history",
        "describe_index",
        "plan",
        "read_plan",
        "answer_directly",
        "read_answer",
        "persist",
    ]
    assert run.retrieval.calls == []
    assert_golden("direct", run)


@pytest.mark.parametrize(
    ("mode", "retrievers"),
    [
        ("semantic", [Retriever.RETRIEVER_DENSE]),
        ("semantic_rerank", [Retriever.RETRIEVER_DENSE]),
        ("bm25", LEXICAL),
        ("hybrid", []),
    ],
)
def test_each_mode_retrieves_its_way(ann: Shop, mode: str, retrievers: list[Retriever.ValueType]) -> None:
    run = ann.run(f"[{mode.upper()}:] computes VAT", ANSWERED)
    assert run.answer == run.streamed_answer == "VatService computes it."
    assert run.steps[-6:] == ["gather", "check", "check_budget", "answer", "read_answer", "persist"]
    (gathering,) = run.retrieval.calls
    assert gathering.arguments["question"] == "where is VAT computed?"
    assert gathering.arguments["phrasings"] == ("computes VAT",)
    assert list(gathering.arguments["retrievers"]) == retrievers
    assert gathering.arguments["rerank"] is False
    evidence = (SERVICE, RATES, "[1] ", "decimal Vat()", "where is VAT computed?")
    assert all(part in run.prompts[1] for part in evidence)
    assert_golden(f"mode_{mode}", run)


def test_a_router_that_chose_a_rerank_gets_the_servers_if_the_pipeline_says_so(ann: Shop) -> None:
    reranked = [
        ann.run(f"[{mode}:] vat", ANSWERED, settings={"rerank": True}).retrieval.calls[-1].arguments["rerank"]
        for mode in ("SEMANTIC_RERANK", "HYBRID")
    ]
    assert reranked == [True, False]


def test_the_routers_phrasings_are_searched_for_with_its_query_and_the_question(ann: Shop) -> None:
    plan = '[HYBRID:] {"query": "VAT rate lookup", "phrasings": ["VatService.Rate", " "], "filters": {"kind": "cs"}}'
    run = ann.run(plan, ANSWERED)
    (gathering,) = run.retrieval.calls
    assert gathering.arguments["question"] == "where is VAT computed?"
    assert gathering.arguments["phrasings"] == ("VAT rate lookup", "VatService.Rate")
    assert list(gathering.arguments["filter"].kinds) == ["cs"]


def test_the_router_is_offered_what_the_index_has(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", ANSWERED)
    assert "- kinds: cs, sql\n- languages: csharp, sql\n" in run.prompts[0]
    assert "collection_ids" not in run.prompts[0]
    assert "\n[SEMANTIC:]\n[SEMANTIC_RERANK:]\n[BM25:]\n[HYBRID:]\n[DIRECT:]\n" in run.prompts[0]


def test_a_request_retrieves_more_and_the_answer_sees_all_of_it(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", "[Requesting data on:] the class Invoice", ANSWERED)
    assert run.answer == run.streamed_answer == "VatService computes it."
    after = run.steps.index("answer")
    assert run.steps[after : after + 6] == [
        "answer",
        "read_answer",
        "guard",
        "gather_more",
        "check_more",
        "check_budget",
    ]
    first, second = run.retrieval.calls
    assert (second.arguments["question"], second.arguments["phrasings"]) == ("the class Invoice", ())
    assert (first.arguments["shown_ids"], second.arguments["shown_ids"]) == ([], [SERVICE, RATES])
    assert second.scope.active_index == INDEX
    assert INVOICE not in run.prompts[1]
    assert all(part in run.prompts[2] for part in (SERVICE, RATES, INVOICE, "[3] "))
    assert run.result is not None
    assert [(source.handle, source.node.id) for source in run.result.evidence] == [
        (1, SERVICE),
        (2, RATES),
        (3, INVOICE),
    ]
    assert {node.id for node in run.result.graph.nodes} == {INVOICE, SERVICE, RATES}
    assert [(edge.from_id, edge.to_id) for edge in run.result.graph.edges] == [(SERVICE, RATES)]
    assert_golden("follow_up", run)


def test_a_model_that_thinks_aloud_is_understood(ann: Shop) -> None:
    thoughts = "<think>\nWould [Answer:] do?\n</think>\n\n"
    without_beginning = "Would [Answer:] do?\n</think>\n\n"
    script = (f"{thoughts}[BM25:] vat", f"{without_beginning}[Requesting data on:] the class Invoice")
    run = ann.run(*script, f"{thoughts}{ANSWERED}")
    assert run.answer == run.streamed_answer == "VatService computes it."
    assert all("Would" not in prompt for prompt in run.prompts)


def test_the_routers_plan_is_kept(ann: Shop) -> None:
    run = ann.run("[HYBRID:] vat rates", "[Requesting data on:] the class Invoice", ANSWERED)
    assert run.result is not None
    state = run.result.state
    assert (state.retrieval_mode, state.rewritten_question) == ("hybrid", "vat rates")
    assert state.outputs == {"plan": "[HYBRID:] vat rates", "answer": ANSWERED}


def test_follow_ups_show_no_text_twice_and_share_one_budget(ann: Shop) -> None:
    calls = "    Vat();\n" * 90
    invoice, service = (passage(name, f"class {name[-7:]} {{\n{calls}}}") for name in (INVOICE, SERVICE))
    ann.retrieval.gatherings = [gathered(service, passage(RATES, "CREATE TABLE Rates")), gathered(service, invoice)]
    run = ann.run(*OVER, ANSWERED, settings={"max_context_tokens": 600})
    assert run.result is not None
    blocks = run.result.context_blocks
    assert "\n".join(blocks).count("CREATE TABLE") == 1
    assert TokenCounter().count("\n\n".join(blocks)) <= 600
    assert "\n\n".join(blocks) in run.prompts[2]
    assert f"- [1] src/{SERVICE}.py" in run.prompts[2]
    assert "summarize" not in run.steps


@pytest.mark.parametrize("again", [gathered(), gathered(passage(SERVICE, "decimal Vat() => Rates.Find();"))])
def test_a_follow_up_that_finds_nothing_new_keeps_what_was_there_and_says_so(
    ann: Shop, again: GatherEvidenceResponse
) -> None:
    ann.retrieval = FakeRetrieval(gatherings=[*ann.retrieval.gatherings[:1], again])
    run = ann.run(*OVER, ANSWERED)
    assert run.answer == "VatService computes it."
    assert all(part in run.prompts[2] for part in (SERVICE, RATES, "decimal Vat()", "CREATE TABLE Rates"))
    assert 'The request "the class Invoice" brought nothing new.' in run.prompts[2]
    assert "brought nothing new" not in run.prompts[1]
    assert run.result is not None
    assert [source.node.id for source in run.result.evidence] == [SERVICE, RATES]


def test_a_request_made_again_ends_the_loop(ann: Shop) -> None:
    run = ann.run(*OVER, "[Requesting data on:] The class invoice.", ANSWERED)
    assert run.answer.startswith(
        "This answer is incomplete: the same was asked for again. What was still looked for:\n- the class Invoice\n\n"
    )
    assert run.retrieval.methods == ["evidence", "evidence"]


@pytest.mark.parametrize("first", [gathered(), WEAK])
def test_weak_evidence_is_gathered_once_more_for_the_question_itself(ann: Shop, first: GatherEvidenceResponse) -> None:
    ann.retrieval = FakeRetrieval(gatherings=[first, gathered(passage(SERVICE, "decimal Vat()"))])
    run = ann.run("[BM25:] zzz", ANSWERED)
    assert run.steps[-8:-3] == ["gather", "check", "gather_again", "check_again", "check_budget"]
    again = run.retrieval.calls[1].arguments
    assert (again["question"], again["phrasings"], list(again["retrievers"])) == ("where is VAT computed?", (), [])
    assert "decimal Vat()" in run.prompts[1]
    assert "none of the best matches" not in run.prompts[1]


@pytest.mark.parametrize("pipeline", ["rag_code_base", "rag_code_semantic_only", "rag_code_deep_graph"])
def test_two_weak_searches_end_the_run_with_what_was_found(ann: Shop, pipeline: str) -> None:
    """No model is asked for an answer."""
    ann.retrieval = FakeRetrieval(gatherings=[WEAK])
    run = ann.run("[SEMANTIC:] zzz", pipeline=pipeline, question="zzz qqq")
    assert run.steps[-5:] == ["gather", "check", "gather_again", "check_again", "persist"]
    assert run.answer.startswith(
        "Only weak matches were found in shop (main): none of the best matches has a word of the question."
    )
    assert run.answer.endswith(f"- src/{SERVICE}.py:1 Symbol.{SERVICE}")


@pytest.mark.parametrize("pipeline", ["rag_code_base", "rag_code_semantic_only", "rag_code_deep_graph"])
def test_two_weak_follow_ups_end_the_loop_and_displace_no_evidence(ann: Shop, pipeline: str) -> None:
    ann.retrieval = FakeRetrieval(gatherings=[ann.retrieval.gatherings[0], WEAK, WEAK])
    run = ann.run("[SEMANTIC:] vat", *REQUESTS, "[Requesting data on:] more", ANSWERED, pipeline=pipeline)
    assert run.answer.startswith(
        "This answer is incomplete: two searches in a row found nothing or only weak matches. What was still looked "
        "for:\n- the class Invoice\n- the table of rates\n- more\n\n"
    )
    for prompt in run.prompts[2:]:
        assert all(part in prompt for part in ("decimal Vat()", "This is probably no answer: none of the best"))


def test_weak_matches_are_named_where_no_other_evidence_is(ann: Shop) -> None:
    ann.retrieval = FakeRetrieval(gatherings=[WEAK])
    run = ann.run("[DIRECT:]", REQUESTS[0], ANSWERED)
    assert "This is probably no answer: none of the best matches" in run.prompts[2]
    assert f"src/{SERVICE}.py\n[1]" in run.prompts[2]


def test_at_the_limit_the_model_answers_from_what_was_gathered_and_the_answer_is_marked(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", *REQUESTS, ANSWERED, settings={"max_turn_loops": 1})
    assert run.answer == run.streamed_answer
    assert run.answer == (
        "This answer is incomplete: the limit of follow-up searches is reached. What was still looked for:\n"
        "- the class Invoice\n- the table of rates\n\nVatService computes it."
    )
    assert all(part in run.prompts[3] for part in (SERVICE, INVOICE, "- the class Invoice\n", "No further search is"))
    assert_golden("limit_answered", run)


def test_a_prompt_says_what_was_asked_for_and_how_often_it_may_be(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", *REQUESTS, ANSWERED, settings={"max_turn_loops": 2})
    earlier_requests = [prompt.split("Your earlier requests for this question:\n")[1] for prompt in run.prompts[1:]]
    assert [request_text.split("\n\nQuestion")[0] for request_text in earlier_requests] == [
        "(none)\n\nFurther requests that you may make: 2. If this is 0, answer now.",
        "- the class Invoice\n\nFurther requests that you may make: 1. If this is 0, answer now.",
        "- the class Invoice\n- the table of rates\n\nFurther requests that you may make: 0. If this is 0, answer now.",
    ]


def test_what_the_model_may_do_is_the_system_message_and_the_evidence_the_users(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", ANSWERED)
    rules, evidence = run.prompts[1].split("Conversation so far:", 1)
    assert "[Requesting data on:]" in rules
    assert SERVICE not in rules
    assert SERVICE in evidence


def test_the_loop_guard_ends_a_run_safely(ann: Shop) -> None:
    requests = (*REQUESTS, "[Requesting data on:] more")
    run = ann.run("[BM25:] vat", *requests, settings={"max_turn_loops": 1})
    assert run.answer.startswith("The evidence found in shop (main) does not suffice to answer this question")
    assert "- the class Invoice\n- the table of rates\n" in run.answer
    assert run.streamed_answer == ""
    assert_golden("loop_guard", run)


def test_evidence_over_its_budget_is_summarised(ann: Shop) -> None:
    script = (*OVER, "[1] reads [2], and [3].", ANSWERED)
    run = ann.run(*script, settings=SUMMARISES)
    assert run.answer == "VatService computes it."
    assert "summarize" in run.steps
    assert all(part in run.prompts[2] for part in ("where is VAT computed?", "\n[1] [2] [3]\n", "decimal Vat()"))
    assert all(part in run.prompts[3] for part in (SERVICE, RATES, INVOICE, "[1] reads [2], and [3]."))
    assert "decimal Vat()" not in run.prompts[3]
    assert run.result is not None
    assert [source.node.id for source in run.result.evidence] == [SERVICE, RATES, INVOICE]
    assert run.result.context_blocks[1] == "[1] reads [2], and [3]."
    assert_golden("context_over_budget", run)


def test_a_summary_that_loses_a_text_goes_back_to_the_model(ann: Shop) -> None:
    summaries = ("VAT is computed.", "[1] reads [2], and [3].")
    run = ann.run(*OVER, *summaries, ANSWERED, settings=SUMMARISES)
    assert run.answer == "VatService computes it."
    assert "lost these handles: [1], [2], [3]" in run.prompts[3]
    assert_golden("context_summary_corrected", run)


def test_a_summary_that_loses_texts_again_has_their_handles_appended(ann: Shop) -> None:
    run = ann.run(*OVER, "lost", "lost again", ANSWERED, settings=SUMMARISES)
    assert run.answer == "VatService computes it."
    assert "lost …\nNot summarised: [1] [2] [3]" in run.prompts[4]
    assert_golden("identifiers_lost", run)


def test_history_over_its_budget_is_summarised_once_and_then_incrementally(ann: Shop) -> None:
    ann.remember(turn("tax"), turn("duty"))
    budget = {"max_history_tokens": 150}
    script = ("[DIRECT:]", "[Answer:] First.")

    fits = ann.run(*script, settings=budget, **TALK)
    assert [topic in fits.prompts[0] for topic in ("tax is", "duty is")] == [True, True]
    assert_golden("history_fits", fits)

    ann.remember(turn("toll"))
    first = ann.run("Summary 1.", *script, settings=budget, **TALK)
    assert [topic in first.prompts[0] for topic in ("tax is", "duty is", "First.", "toll is")] == [
        *(True, True, True),
        False,  # the last turn stays as it is
    ]
    assert [part in first.prompts[1] for part in ("Summary 1.", "toll is", "tax is")] == [True, True, False]
    assert_golden("history_summarised", first)

    ann.remember(turn("levy"))
    rests = ann.run(*script, settings=budget, **TALK)
    assert [part in rests.prompts[0] for part in ("Summary 1.", "levy is", "toll is")] == [True] * 3

    ann.remember(turn("excise"), turn("tithe"))
    again = ann.run("Summary 2.", *script, settings=budget, **TALK)
    parts = ("Summary 1.", "toll is", "levy is", "excise is", "tithe is", "tax is")
    assert [part in again.prompts[0] for part in parts] == [True, True, True, True, False, False]
    assert [part in again.prompts[1] for part in ("Summary 2.", "tithe is", "excise is")] == [True, True, False]
    assert_golden("history_summarised_again", again)


def test_a_question_in_another_language_is_answered_in_it(ann: Shop) -> None:
    run = ann.run(
        "Where is VAT computed?",
        "[BM25:] vat",
        ANSWERED,
        "Oblicza go VatService.",
        question="Gdzie jest liczony VAT?",
        is_english=False,
        user_id="ann",
        session_id="talk",
    )
    assert run.answer == run.streamed_answer == "Oblicza go VatService."
    assert "Gdzie jest liczony VAT?" in run.prompts[0]
    assert "Where is VAT computed?" in run.prompts[1]
    assert all(part in run.prompts[3] for part in ("VatService computes it.", "Gdzie jest liczony VAT?"))
    assert_golden("translated", run)

    later = ann.run("[DIRECT:]", "[Answer:] Yes.", **TALK)
    assert "User: Where is VAT computed?\nAssistant: VatService computes it." in later.prompts[0]


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ('{"query": "vat", "filters": {"directory": "src/"}}', "vat"),
        ('{"query": "vat", "filters": {"is_test": "no"}}', "vat"),
        ('{"query": "vat", "filters": {"language": "sql"}', '{"query": "vat", "filters": {"language": "sql"}'),
        ('{"query": "vat"} please', '{"query": "vat"} please'),
        ("{{ url_for }} in template", "{{ url_for }} in template"),
    ],
)
def test_no_query_of_a_model_ends_the_run(ann: Shop, written: str, query: str) -> None:
    for script in ([f"[BM25:] {written}", ANSWERED], ["[DIRECT:]", f"[Requesting data on:] {written}", ANSWERED]):
        ann.retrieval = shop()
        run = ann.run(*script)
        assert run.answer == "VatService computes it."
        gathering = run.retrieval.calls[0].arguments
        assert query in (gathering["question"], *gathering["phrasings"])
        assert ("A part of the query had no effect" in run.prompts[-1]) == ("}}" in written and query == "vat")


@pytest.mark.parametrize("empty", ["", "<think>Only thoughts.</think>"])
def test_an_empty_reply_is_asked_for_once_more_in_every_step(ann: Shop, empty: str) -> None:
    script = (empty, "Where?", empty, "[BM25:] vat", empty, ANSWERED, empty, "VatService.")
    run = ann.run(*script, question="Gdzie?", is_english=False)
    assert run.answer == "VatService."


def test_a_translation_that_fails_gives_the_english_answer_and_keeps_the_turn(ann: Shop) -> None:
    down = Reply(status=500, body="{}", headers={"retry-after-ms": "1"})
    options = RunOptions(is_english=False, user_id="ann", session_id="talk")
    settings: dict[str, JsonValue] = {"model_retry": {"tries": 2, "pause_seconds": 0.001}}
    run = ann.run("Where?", "[BM25:] vat", ANSWERED, down, down, question="Gdzie?", settings=settings, **options)
    note = "(This answer is in English, because its translation failed.)"
    assert run.answer == run.streamed_answer == f"VatService computes it.\n\n{note}"
    assert run.events[-2]["detail"] == {"translated": False, "translation_failed": "model-failed", "persisted": True}
    later = ann.run("[DIRECT:]", "[Answer:] Yes.", **TALK)
    assert "User: Where?\nAssistant: VatService computes it.\n\n" in later.prompts[0]


def test_a_translation_that_fails_once_is_tried_again(ann: Shop) -> None:
    down = Reply(status=500, body="{}", headers={"retry-after-ms": "1"})
    settings: dict[str, JsonValue] = {"model_retry": {"tries": 2, "pause_seconds": 0.001}}
    script = ("Where?", "[BM25:] vat", ANSWERED, down, "VatService.")
    assert ann.run(*script, question="Gdzie?", settings=settings, is_english=False).answer == "VatService."


def test_however_many_loops_are_allowed_the_run_ends_with_an_answer(ann: Shop) -> None:
    requests = [f"[Requesting data on:] thing {number}" for number in range(31)]
    run = ann.run("[BM25:] vat", *requests, ANSWERED, settings={"max_turn_loops": 1_000})
    listed = "".join(f"- thing {number}\n" for number in range(26, 31))
    assert run.answer == (
        "This answer is incomplete: the limit of follow-up searches is reached. What was still looked for:\n"
        f"- …and 26 earlier requests\n{listed}\nVatService computes it."
    )
    assert len(run.steps) <= 200


def test_a_run_that_gives_up_answers_in_brief(ann: Shop) -> None:
    names = (f"shop::main::cs::{'Name' * 400}{number}" for number in range(60))
    ann.retrieval = FakeRetrieval(gatherings=[gathered(*map(passage, names), weak="nothing is like it")])
    run = ann.run("[SEMANTIC:] zzz", **TALK)
    assert run.answer.endswith("\n…and 52 more")
    assert len(run.answer) < 4_000
    later = ann.run("[DIRECT:]", "[Answer:] Yes.", settings={"max_history_tokens": 100_000}, **TALK)
    assert run.answer in later.prompts[0]


@pytest.mark.parametrize("rule", ["empty", "failed"])
def test_evidence_that_cannot_be_summarised_is_cut_to_its_budget(ann: Shop, rule: str) -> None:
    down = Reply(status=400, body="{}") if rule == "empty" else Reply(status=500, body="{}")
    settings: dict[str, JsonValue] = {**SUMMARISES, "model_retry": {"tries": 2, "pause_seconds": 0.001}}
    run = ann.run(*OVER, down, down, ANSWERED, settings=settings)
    assert run.answer == "VatService computes it."
    (summarised,) = (
        event for event in run.events if event.get("step_id") == "summarize" and event.get("ending") == "ok"
    )
    assert summarised["detail"]["mended"] is False
    assert summarised["detail"]["context_tokens"] <= 94
    assert "decimal Vat()" in run.prompts[-1] or "class Invoice" in run.prompts[-1]


def test_no_hits_are_no_evidence(ann: Shop) -> None:
    ann.retrieval = FakeRetrieval(gatherings=[gathered()])
    run = ann.run("[BM25:] vat")
    assert run.answer == "Nothing was found in shop (main)."
    assert_golden("no_hits", run)


@pytest.mark.parametrize(
    ("name", "script", "step", "rule"),
    [
        ("model_error", [Reply(status=500, body='{"error": {"message": "no"}}')] * 3, "plan", "model-failed"),
        ("model_error_in_answer", ["[BM25:] vat", Reply("It", breaks_off=True)], "answer", "model-answer-cut"),
        ("malformed_router", ["I would search for VAT."] * 2, "read_plan", "prefix-malformed"),
        ("malformed_answer", ["[BM25:] vat", *["VatService computes it."] * 2], "read_answer", "prefix-malformed"),
    ],
)
def test_what_goes_wrong_ends_the_run_with_its_rule(
    ann: Shop, name: str, script: list[str | Reply], step: str, rule: str
) -> None:
    run = ann.run(*script, settings={"model_retry": {"tries": 3, "pause_seconds": 0.001}})
    assert isinstance(run.failure, StepError)
    assert (run.failure.step_id, run.failure.rule) == (step, rule)
    assert run.streamed_answer == ""
    assert run.steps[-1] == step
    assert_golden(name, run)


@pytest.mark.parametrize(
    ("script", "step", "problem"),
    [
        (["```\n[BM25:] vat\n```", "[BM25:] vat", ANSWERED], "read_plan", "exactly one line, without a code fence"),
        (["[bm25:] vat", "[BM25:] vat", ANSWERED], "read_plan", "[DIRECT:], spelt exactly so"),
        (["[BM25:] vat", "VatService computes it.", ANSWERED], "read_answer", "must start with [Answer:] or"),
    ],
)
def test_the_model_is_told_once_what_is_wrong_with_its_prefix(
    ann: Shop, script: list[str], step: str, problem: str
) -> None:
    run = ann.run(*script)
    assert run.answer == run.streamed_answer == "VatService computes it."
    assert len(run.prompts) == 3
    (second_prompt,) = (prompt for prompt in run.prompts if problem in prompt)
    assert "\n\nYour answer cannot be used: " in second_prompt
    (corrected,) = (event for event in run.events if event.get("detail", {}).get("asked_again"))
    assert (corrected["step_id"], corrected["detail"]["asked_again"]) == (step, "prefix-malformed")
    assert (corrected["prompt_tokens"], corrected["completion_tokens"]) == (100, 10)
    assert run.result is not None
    assert run.result.state.outputs == {"plan": "[BM25:] vat", "answer": ANSWERED}


def test_an_answer_that_a_user_has_seen_a_part_of_is_asked_for_again_too(ann: Shop) -> None:
    run = ann.run("[BM25:] vat", f"[Answer:] None.\n{ANSWERED}", ANSWERED)
    assert run.answer == "VatService computes it."
    assert run.streamed_answer == f"None.\n{ANSWERED}{run.answer}"
    assert "an answer must have exactly one prefix" in run.prompts[2]


def test_a_failed_run_stores_no_turn(ann: Shop) -> None:
    failed = ann.run("[BM25:] vat", "no prefix", "no prefix", **TALK)
    assert failed.failure is not None
    later = ann.run("[DIRECT:]", "[Answer:] Yes.", **TALK)
    assert "Conversation so far:\n(none)" in later.prompts[0]


def test_a_run_that_is_repeated_tells_the_same_trace(ann: Shop) -> None:
    script = ("[BM25:] vat", "[Requesting data on:] the class Invoice", ANSWERED)
    first = ann.run(*script)
    second = Shop(ann.history).run(*script)
    assert first.events == second.events
