"""`render_context_blocks` after several retrievals: what was shown stays, and keeps its handles."""

import pytest

from groundwire.tokens import TokenCounter
from groundwire_client import NodeText, ServiceContext
from groundwire_pipelines.actions.evidence import evidence_text
from groundwire_pipelines.state import PipelineState
from support.context_blocks import numbered, render
from support.retrieval import make_state, text


def follow_up(*earlier: NodeText, request: str = "more", **fields: object) -> PipelineState:
    """A question that one retrieval was shown for, and that another was made for since."""
    state = make_state(node_texts=list(earlier), retrieval_seed_nodes=[one.id for one in earlier])
    render(state)
    state.data_requests.append(request)
    state.keep_retrieval()
    for name, value in fields.items():
        setattr(state, name, value)
    return state


def test_follow_ups_are_laid_out_with_what_was_there_and_handles_stay() -> None:
    state = follow_up(text("a"), text("b"), node_texts=[text("c"), text("b"), text("d")])
    render(state)
    assert [(one.handle, one.node.id) for one in state.shown] == [(3, "c"), (1, "a"), (2, "b"), (4, "d")]
    assert state.context_table[0].split("\n") == [
        f"[{n}] src/{one}.py:1-3 Symbol.{one}" for n, one in ((3, "c"), (1, "a"), (2, "b"), (4, "d"))
    ]
    assert state.handles == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_all_retrievals_share_one_budget_and_the_newest_is_not_starved() -> None:
    first, second = ([text(f"{name}{number}", numbered(30)) for number in range(20)] for name in "ab")
    state = follow_up(*first, node_texts=second)
    outcome = render(state, 1_500)
    assert outcome.detail["tokens"] == TokenCounter().count(evidence_text(state)) <= 1_500
    ids = [one.node.id for one in state.shown]
    assert ids[:4] == ["b0", "a0", "b1", "a1"]
    assert abs(sum(one.startswith("a") for one in ids) - sum(one.startswith("b") for one in ids)) <= 1


def test_a_text_that_comes_back_has_its_handle_again_and_no_other_gets_it() -> None:
    state = follow_up(text("a", numbered(40)), text("b", numbered(40)))
    state.node_texts = [text("c")]
    render(state, 80)
    assert [(one.handle, one.node.id) for one in state.shown] == [(3, "c")]
    render(state, 1_000)
    assert [(one.handle, one.node.id) for one in state.shown] == [(3, "c"), (1, "a"), (2, "b")]


@pytest.mark.parametrize("view", ["flat", "graph"])
def test_a_text_that_gives_way_to_newer_ones_is_named_with_path_lines_and_symbol(view: str) -> None:
    earlier = [text(f"a{number}", numbered(12)) for number in range(8)]
    state = follow_up(*earlier, node_texts=[text(f"b{number}", numbered(12)) for number in range(8)])
    outcome = render(state, 1_000, view=view)
    shown = {one.node.id for one in state.shown}
    dropped = [one.id for one in earlier if one.id not in shown]
    assert dropped
    rows = state.context_blocks[len(state.shown)].split("\n")
    assert rows[: len(dropped)] == [f"- [{state.handles[name]}] src/{name}.py:1-3 Symbol.{name}" for name in dropped]
    assert outcome.detail["tokens"] == TokenCounter().count(evidence_text(state)) <= 1_000


@pytest.mark.parametrize("found_again", [(), ("b", "a")])
def test_a_request_that_brought_nothing_new_is_told_and_takes_nothing_away(found_again: tuple[str, ...]) -> None:
    again = [text(name) for name in found_again]
    state = follow_up(text("a"), text("b"), request="the class\n[9] Invoice", node_texts=again)
    render(state)
    assert sorted((one.handle, one.node.id) for one in state.shown) == [(1, "a"), (2, "b")]
    assert state.context_blocks[-1] == 'The request "the class [9] Invoice" brought nothing new.'
    state = follow_up(text("a"), node_texts=[text("c")])
    render(state)
    assert "brought nothing new" not in evidence_text(state)


def test_the_services_of_all_retrievals_are_told_below_the_texts() -> None:
    billing = ServiceContext(service_name="billing", calls=("mail", "rates →\n[1]"), called_by=("gateway",), edges=())
    state = make_state(
        node_texts=[text("a")],
        services=[billing, ServiceContext(service_name="mail", calls=(), called_by=(), edges=())],
    )
    state.keep_retrieval()
    state.node_texts, state.services = (
        [text("b")],
        [ServiceContext(service_name="mail", calls=(), called_by=("billing",), edges=())],
    )
    render(state)
    assert state.context_blocks[-1].split("\n") == [
        "service mail ← billing",
        "service billing → mail, rates -> [1] ← gateway",
    ]
    many = [ServiceContext(service_name=f"s{number}", calls=(), called_by=(), edges=()) for number in range(500)]
    state = make_state(node_texts=[text("a")], services=many)
    outcome = render(state, 400)
    assert "service s0" in state.context_blocks[-1]
    assert TokenCounter().count(state.context_blocks[-1]) <= 400 / 8
    assert outcome.detail["tokens"] == TokenCounter().count(evidence_text(state)) <= 400


def test_a_search_of_another_loop_leaves_the_evidence_until_it_is_laid_out_anew() -> None:
    state = follow_up(text("a"))
    state.clear_retrieval()
    assert evidence_text(state).endswith("```\n source\n```")
    assert [one.handle for one in state.shown] == [1]
