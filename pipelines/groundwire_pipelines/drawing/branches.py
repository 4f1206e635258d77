"""The graph of a pipeline as it is drawn: steps in ranks, and the branches between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter

from groundwire_pipelines.definition.model import StepDefinition


@dataclass(frozen=True, slots=True)
class Branch:
    """A way from one step to another. `label` is empty where it is the only way out."""

    source: str
    target: str
    label: str


def branches_of(steps: Mapping[str, StepDefinition]) -> tuple[Branch, ...]:
    """Every way out of every step, in the order of the steps."""
    return tuple(
        Branch(step.id, target, name if len(step.transitions) > 1 else "")
        for step in steps.values()
        for name, target in step.transitions.items()
    )


def back_branches(steps: Sequence[str], branches: Sequence[Branch]) -> frozenset[Branch]:
    """The branches that close a loop, as a walk into the depth from the first of `steps` meets them.

    Without them the rest has no loops.
    """
    ways: dict[str, list[Branch]] = {step: [] for step in steps}
    for branch in branches:
        ways[branch.source].append(branch)
    back: set[Branch] = set()
    done: set[str] = set()
    open_steps: dict[str, int] = {}
    for start in steps:
        trail = [] if start in done else [start]
        while trail:
            step = trail[-1]
            taken = open_steps.setdefault(step, 0)
            if taken == len(ways[step]):
                done.add(trail.pop())
                del open_steps[step]
                continue
            open_steps[step] += 1
            branch = ways[step][taken]
            if branch.target in open_steps:
                back.add(branch)
            elif branch.target not in done:
                trail.append(branch.target)
    return frozenset(back)


def ranks_of(steps: Sequence[str], forward: Sequence[Branch]) -> dict[str, int]:
    """How many branches the longest way to each step has, for branches without loops."""
    before: dict[str, list[str]] = {step: [] for step in steps}
    for branch in forward:
        before[branch.target].append(branch.source)
    ranks: dict[str, int] = {}
    for step in TopologicalSorter(before).static_order():
        ranks[step] = max((ranks[source] + 1 for source in before[step]), default=0)
    return ranks
