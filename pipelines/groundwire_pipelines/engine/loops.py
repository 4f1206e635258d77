"""How many steps a run needs to go around a loop once more and still come to an end."""

from collections.abc import Mapping

from groundwire_pipelines.engine.binding import BoundStep

_CONTINUE, _LIMIT = "on_continue", "on_limit"


def steps_around_loops(steps: Mapping[str, BoundStep]) -> Mapping[str, int]:
    """For each step that guards loops: the most steps after it, if it lets the run go on, until the run has ended.

    The run goes on to the next guard, which ends the loop. Tries after temporary errors are not counted.
    """
    lengths = _Lengths(steps)
    guards = {step_id: step for step_id, step in steps.items() if step.action.guards_loops}
    ending = max((lengths.behind(step, _LIMIT) for step in guards.values()), default=0)
    return {step_id: lengths.behind(step, _CONTINUE) + ending for step_id, step in guards.items()}


class _Lengths:
    """The most steps from a step to the end of the run or to the next guard. Every loop has a guard."""

    def __init__(self, steps: Mapping[str, BoundStep]) -> None:
        self._steps = steps
        self._known: dict[str, int] = {}

    def behind(self, step: BoundStep, transition: str) -> int:
        """The most steps after a step that takes a transition."""
        target = step.definition.transitions.get(transition)
        return 0 if target is None else self._of(target)

    def _of(self, step_id: str) -> int:
        if step_id not in self._known:
            self._known[step_id] = 0  # a loop without a guard, which loading refuses, ends here
            step = self._steps.get(step_id)
            if step is not None:
                ways = () if step.action.guards_loops else step.definition.transitions.values()
                self._known[step_id] = 1 + max(map(self._of, ways), default=0)
        return self._known[step_id]
