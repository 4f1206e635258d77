"""The flow of data between steps: a field that a step reads must have been written on every path to it."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from groundwire_pipelines.actions.definition import ERROR_FIELDS, DataFlow, is_error_transition
from groundwire_pipelines.validation.steps import CheckedStep

GIVEN: Final = frozenset(
    """
    user_question repository branch is_english session_id user_id active_index retrieval_access retrieval_filter
    """.split()
)
"""The fields of the state that a run starts with."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A step that reads one of `fields`, and a path to it, the step included, on which none of them is written."""

    fields: tuple[str, ...]
    path: tuple[str, ...]


def unwritten(steps: Mapping[str, CheckedStep], entry: str) -> Iterator[Unwritten]:
    """The fields that steps read but that some path to them does not write, each with the shortest such path."""
    readers: dict[tuple[str, ...], list[str]] = {}
    for step_id, step in steps.items():
        for read in step.data.reads:
            fields = (read,) if isinstance(read, str) else read
            if not GIVEN.intersection(fields):
                readers.setdefault(fields, []).append(step_id)
    for fields, step_ids in readers.items():
        before = _reached_without(fields, steps, entry)
        for step_id in step_ids:
            if (step_id, frozenset()) in before:
                yield Unwritten(fields, _path_to((step_id, frozenset()), before))


_Place = tuple[str, frozenset[str]]
"""A step that a run has reached, and those of the fields in question that were written before."""


def _reached_without(
    fields: tuple[str, ...], steps: Mapping[str, CheckedStep], entry: str
) -> Mapping[_Place, _Place | None]:
    """All places that runs may reach, each with the place before it on a shortest path."""
    start: _Place = (entry, frozenset())
    before: dict[_Place, _Place | None] = {start: None}
    waiting = deque([start])
    while waiting:
        place = waiting.popleft()
        step_id, written = place
        for transition, target in steps[step_id].transitions.items():
            following = (target, _written_after(written, steps[step_id].data, transition).intersection(fields))
            if following not in before:
                before[following] = place
                waiting.append(following)
    return before


def _written_after(written: frozenset[str], data: DataFlow, transition: str) -> frozenset[str]:
    """The fields written after a transition.

    A failed step leaves the state unchanged, except for the fields of the error.
    """
    if is_error_transition(transition):
        return written | frozenset(ERROR_FIELDS)
    return written.difference(data.clears).union(data.writes, data.writes_on.get(transition, ()))


def _path_to(place: _Place | None, before: Mapping[_Place, _Place | None]) -> tuple[str, ...]:
    path: list[str] = []
    while place is not None:
        path.append(place[0])
        place = before[place]
    return tuple(reversed(path))
