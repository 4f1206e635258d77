"""The graph of steps: loops, unreachable steps, and steps that cannot reach an end."""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter

Graph = Mapping[str, tuple[str, ...]]
"""The steps in their order, each with those that may follow it."""


def loops(graph: Graph, guards: Iterable[str]) -> list[tuple[str, ...]]:
    """Loops without a guard, each as its steps in running order, from the first one in the file.

    No two of them share a step, so that one mistake is not reported twice.
    """
    guarding = set(guards)
    order = {step: place for place, step in enumerate(graph)}
    rest = {step: following for step, following in graph.items() if step not in guarding}
    found: list[tuple[str, ...]] = []
    while loop := _any_loop(rest):
        first = loop.index(min(loop, key=order.__getitem__))
        found.append(loop[first:] + loop[:first])
        rest = {step: following for step, following in rest.items() if step not in loop}
    return found


def reachable(graph: Graph, starts: Iterable[str]) -> frozenset[str]:
    """The steps that a run from any of `starts` may reach, the starts included."""
    seen = set(starts)
    waiting = sorted(seen)
    while waiting:
        fresh = [step for step in graph[waiting.pop()] if step not in seen]
        seen.update(fresh)
        waiting += fresh
    return frozenset(seen)


def reverse(graph: Graph) -> Graph:
    """The same steps, each with those that it may follow."""
    before: dict[str, list[str]] = {step: [] for step in graph}
    for step, following in graph.items():
        for target in following:
            before[target].append(step)
    return {step: tuple(steps) for step, steps in before.items()}


def _any_loop(graph: Graph) -> tuple[str, ...]:
    """One loop as its steps in running order; () if there is none."""
    known = {step: tuple(target for target in following if target in graph) for step, following in graph.items()}
    try:
        TopologicalSorter(reverse(known)).prepare()
    except CycleError as error:
        # The error lists each step before those that follow it, and the first once more at the end.
        closed: list[str] = error.args[1]
        return tuple(closed[:-1])
    return ()
