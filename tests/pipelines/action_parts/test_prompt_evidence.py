"""The evidence of several retrievals in one prompt: the newest whole, of earlier ones what has room; numbers stay."""

from dataclasses import replace

import pytest

from groundwire.tokens import TokenCounter
from groundwire_client import NodeText, ServiceContext
from groundwire_pipelines.action_parts.evidence_text import evidence_text
from groundwire_pipelines.action_parts.prompt_evidence import earlier_ids
from groundwire_pipelines.state import PipelineState
from support.context_blocks import numbered, render, source
from support.retrieval import make_state


def follow_up(*earlier: NodeText, request: str = "more", budget: int | None = 1_000, **fields: object) -> PipelineState:
    """A question that one retrieval was shown for, and that another was made for since."""
    state = make_state(node_texts=list(earlier), retrieval_seed_nodes=[node.id for node in earlier])
    render(state, budget)
    state.data_requests.append(request)
    state.keep_retrieval()
    for name, value in fields.items():
        setattr(state, name, value)
    return state


def numbers(state: PipelineState) -> list[tuple[int, str]]:
    return [(source.handle, source.node.id) for source in state.shown]


def test_new_texts_come_after_earlier_ones_which_keep_their_numbers() -> None:
    state = follow_up(source("a"), source("b"), node_texts=[source("c"), source("b"), source("d")])
    render(state)
    assert numbers(state) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    lines = evidence_text(state).split("\n")
    assert [line for line in lines if line.startswith("src/")] == [f"src/{name}.py" for name in "abcd"]
    assert evidence_text(state).count("def b(): ...") == 1
    assert "- [2] src/b.py:1 Symbol.b" in lines
    render(state)
    assert numbers(state) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]


def test_all_retrievals_share_one_budget_and_the_newest_has_half_of_it() -> None:
    first, second = ([source(f"{name}{at}", numbered(30, f"{name}{at}")) for at in range(20)] for name in "ab")
    state = follow_up(*first, node_texts=second, budget=1_500)
    render(state, 1_500)
    assert TokenCounter().count(evidence_text(state)) <= 1_500
    ids = [source.node.id for source in state.shown]
    assert {"a0", "b0"} <= {*ids}
    assert sum(id_.startswith("b") for id_ in ids) >= sum(id_.startswith("a") for id_ in ids) > 0


def test_what_gives_way_to_newer_texts_is_named_and_may_be_shown_again() -> None:
    first = [source(f"a{at}", numbered(12, f"a{at}")) for at in range(8)]
    state = follow_up(*first, node_texts=[source(f"b{at}", numbered(12, f"b{at}")) for at in range(8)])
    given = {source.node.id: source.handle for source in state.shown}
    render(state, 1_000)
    shown = {source.node.id for source in state.shown}
    dropped = [node_id for node_id in given if node_id not in shown]
    assert dropped
    rows = [line for line in evidence_text(state).split("\n") if line.startswith("- [")]
    assert f"- [{given[dropped[0]]}] src/{dropped[0]}.py:1-12 Symbol.{dropped[0]}" in rows
    assert len(rows) <= 8
    state.keep_retrieval()
    ids = earlier_ids(state)
    assert [ids[given[name] - 1] for name in dropped] == [str(given[name]) for name in dropped]
    state.node_texts = [node for node in first if node.id == dropped[0]]
    render(state, 1_000)
    assert numbers(state)[-1] == (len(ids) + 1, dropped[0])
    assert evidence_text(state).count(f"{dropped[0]}_3 = ") == 1


@pytest.mark.parametrize("found_again", [(), ("b", "a")])
def test_a_request_that_brought_nothing_new_is_told_and_takes_nothing_away(found_again: tuple[str, ...]) -> None:
    again = [source(name) for name in found_again]
    state = follow_up(source("a"), source("b"), request="the class\n[9] Invoice", node_texts=again)
    render(state)
    assert numbers(state) == [(1, "a"), (2, "b")]
    assert state.context_blocks[-1] == 'The request "the class [9] Invoice" brought nothing new.'
    state = follow_up(source("a"), node_texts=[source("c")])
    render(state)
    assert "brought nothing new" not in evidence_text(state)


def test_the_services_of_all_retrievals_are_told_below_the_texts() -> None:
    billing = ServiceContext(service_name="billing", calls=("mail", "rates →\n[1]"), called_by=("gateway",), edges=())
    mail = ServiceContext(service_name="mail", calls=(), called_by=("billing",), edges=())
    state = follow_up(source("a"), node_texts=[source("b")])
    state.earlier_retrievals = [replace(retrieval, services=(billing,)) for retrieval in state.earlier_retrievals]
    state.services = [mail]
    render(state)
    assert state.context_blocks[-1].split("\n") == [
        "service mail ← billing",
        "service billing → mail, rates -> [1] ← gateway",
    ]
    many = [ServiceContext(service_name=f"s{number}", calls=(), called_by=(), edges=()) for number in range(500)]
    state = make_state(node_texts=[source("a")], services=many)
    render(state, 400)
    assert "service s0" in state.context_blocks[-1]
    assert TokenCounter().count(state.context_blocks[-1]) <= 400 / 8
    assert TokenCounter().count(evidence_text(state)) <= 400


def test_a_search_of_another_loop_leaves_the_evidence_until_it_is_laid_out_anew() -> None:
    state = follow_up(source("a"))
    state.clear_retrieval()
    assert evidence_text(state).endswith("def a(): ...")
    assert numbers(state) == [(1, "a")]


def test_with_more_numbers_than_a_request_can_hold_the_evidence_begins_anew() -> None:
    texts = [source(f"n{at}") for at in range(1_001)]
    state = follow_up(*texts, node_texts=[source("z")], budget=None)
    render(state)
    assert numbers(state) == [(1, "z")]
