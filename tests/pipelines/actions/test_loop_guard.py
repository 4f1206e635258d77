import pytest

from groundwire_pipelines.actions.loop_guard import ACTION
from groundwire_pipelines.errors import StepError
from support.model import conversation
from support.retrieval import make_state, run_action, shown, text


def test_goes_on_until_the_limit_is_passed() -> None:
    run = conversation(max_turn_loops=2)
    state = make_state()
    ways = []
    for request in ("VatService", "VatServices", "the VatService"):
        state.last_model_response = request
        ways.append(run_action(ACTION, {}, state, run.runtime).transition)
    assert ways == ["on_continue", "on_continue", "on_limit"]
    assert state.turn_loop_counter == 3


def test_without_loops_the_first_request_is_the_limit() -> None:
    outcome = run_action(ACTION, {}, make_state(last_model_response="x"), conversation(max_turn_loops=0).runtime)
    assert outcome.transition == "on_limit"
    assert outcome.detail == {"turn_loop_counter": 1, "max_turn_loops": 0, "repeated": False}


@pytest.mark.parametrize(("weak", "way"), [(1, "on_continue"), (2, "on_limit")])
def test_a_request_after_two_weak_searches_is_not_searched_for(weak: int, way: str) -> None:
    state = make_state(last_model_response="x", weak_searches=weak)
    assert run_action(ACTION, {}, state, conversation(max_turn_loops=5).runtime).transition == way


def test_the_explanation_names_what_was_looked_for_and_claims_nothing() -> None:
    run = conversation(max_turn_loops=1)
    state = make_state(last_model_response="VatService", context_blocks=["secret: VAT is 3 %"])
    run_action(ACTION, {}, state, run.runtime)
    state.last_model_response = "the table of rates"
    run_action(ACTION, {}, state, run.runtime)
    assert state.final_answer_en == (
        "The evidence found in shop (main) does not suffice to answer this question, and the limit of follow-up "
        "searches is reached. What was still looked for:\n- VatService\n- the table of rates\n"
        "Ask about one of these directly, or name the files or symbols that matter."
    )
    assert run.model.prompts == []


def test_the_evidence_so_far_is_kept_for_the_next_answer() -> None:
    run = conversation(max_turn_loops=3)
    state = make_state(
        last_model_response="x",
        retrieval_seed_nodes=["a"],
        node_texts=[text("a")],
        shown=[shown(1, "a")],
        context_blocks=["table", "[1]"],
    )
    run_action(ACTION, {}, state, run.runtime)
    assert (state.retrieval_seed_nodes, state.node_texts) == ([], [])
    state.node_texts, state.last_model_response = [text("b")], "y"
    run_action(ACTION, {}, state, run.runtime)
    assert [[node.id for node in retrieval.texts] for retrieval in state.earlier_retrievals] == [["a"], ["b"]]
    assert (state.shown, state.context_blocks) == ([shown(1, "a")], ["table", "[1]"])


@pytest.mark.parametrize(
    ("first", "second", "is_repeated"),
    [
        ("the class Invoice", " The  class\ninvoice. ", True),
        ("the class Invoice", "the class Invoices", False),
        (
            '{"query": "vat", "filters": {"language": "sql"}}',
            '{"filters": {"language": ["sql"]}, "query": "VAT"}',
            True,
        ),
        ('{"query": "vat", "filters": {"language": "sql"}}', '{"query": "vat"}', False),
        ('{"query": "vat"}', "vat", True),
        ("{unfinished", "{unfinished", True),
        ("{unfinished", "{finished", False),
    ],
)
def test_a_request_that_was_made_before_ends_the_loop(first: str, second: str, is_repeated: bool) -> None:
    run = conversation(max_turn_loops=5)
    state = make_state(last_model_response=first)
    run_action(ACTION, {}, state, run.runtime)
    state.last_model_response = second
    outcome = run_action(ACTION, {}, state, run.runtime)
    assert outcome.transition == ("on_limit" if is_repeated else "on_continue")
    assert outcome.detail["repeated"] is is_repeated
    assert ("the same was asked for again" in state.final_answer_en) == is_repeated
    assert len(state.data_requests) == (1 if is_repeated else 2)


def test_the_limit_is_required() -> None:
    assert ACTION.required_settings == ("max_turn_loops",)
    assert ACTION.guards_loops
    with pytest.raises(StepError, match="max_turn_loops") as caught:
        run_action(ACTION, {}, make_state(), conversation().runtime)
    assert caught.value.rule == "settings-key-missing"
