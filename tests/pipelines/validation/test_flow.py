from hypothesis import given
from hypothesis import strategies as st

from groundwire_pipelines.validation.validator import loops, reachable, reverse

STEPS = "abcdef"
GRAPHS = st.fixed_dictionaries({step: st.lists(st.sampled_from(STEPS), max_size=3).map(tuple) for step in STEPS})


def walked(graph: dict[str, tuple[str, ...]], start: str, avoiding: frozenset[str] = frozenset()) -> set[str]:
    """Every step that one or more branches from `start` lead to."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for step in graph[waiting.pop()]:
            if step not in seen and step not in avoiding:
                seen.add(step)
                waiting.append(step)
    return seen


@given(graph=GRAPHS, guards=st.frozensets(st.sampled_from(STEPS)))
def test_a_loop_is_found_exactly_where_one_avoids_all_guards(
    graph: dict[str, tuple[str, ...]], guards: frozenset[str]
) -> None:
    loops_of_graph = loops(graph, guards)
    in_a_loop = {step for step in graph if step not in guards and step in walked(graph, step, guards)}
    assert bool(loops_of_graph) == bool(in_a_loop)
    looped_steps = [step for loop in loops_of_graph for step in loop]
    assert len(looped_steps) == len(set(looped_steps))
    assert set(looped_steps) <= in_a_loop
    for loop in loops_of_graph:
        assert loop[0] == min(loop, key=list(graph).index)
        assert all(after in graph[step] for step, after in zip(loop, (*loop[1:], loop[0]), strict=True))


@given(graph=GRAPHS)
def test_steps_are_reachable_along_branches_and_back_along_reversed_ones(graph: dict[str, tuple[str, ...]]) -> None:
    for step in graph:
        assert reachable(graph, step) == walked(graph, step) | {step}
        assert reachable(reverse(graph), step) == {other for other in graph if step in walked(graph, other)} | {step}


def test_a_long_chain_needs_no_deep_stack() -> None:
    steps = [f"s{number}" for number in range(5_000)]
    graph = {step: (after,) for step, after in zip(steps, (*steps[1:], steps[0]), strict=True)}
    assert loops(graph, ()) == [tuple(steps)]
    assert len(reachable(graph, ("s7",))) == 5_000
