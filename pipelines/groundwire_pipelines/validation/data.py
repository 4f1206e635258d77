"""The data that steps hand on: what a step reads must have been written on every way that leads to it."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from groundwire_pipelines.actions.definition import ERROR_FIELDS, DataFlow, is_error_way
from groundwire_pipelines.validation.steps import CheckedStep

GIVEN: Final = frozenset(
    {
        "user_question",
        "repository",
        "branch",
        "is_english",
        "session_id",
        "user_id",
        "active_index",
        "retrieval_access",
        "retrieval_filter",
    }
)
"""The fields of the state that a run starts with."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """A step that reads any of `fields` though a run may come to it, by `way`, which ends with it, without them."""

    fields: tuple[str, ...]
    way: tuple[str, ...]


def unwritten(steps: Mapping[str, CheckedStep], entry: str) -> Iterator[Unwritten]:
    """What steps read that is not written on every way to them, each with a shortest way, in the steps' order."""
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
                yield Unwritten(fields, _way_to((step_id, frozenset()), before))


_Place = tuple[str, frozenset[str]]
"""A step that a run came to, and which of the fields in question were written by then."""


def _reached_without(
    fields: tuple[str, ...], steps: Mapping[str, CheckedStep], entry: str
) -> Mapping[_Place, _Place | None]:
    """Every place that runs may come to, with the place before it on a shortest way."""
    start: _Place = (entry, frozenset())
    before: dict[_Place, _Place | None] = {start: None}
    waiting = deque([start])
    while waiting:
        place = waiting.popleft()
        step_id, written = place
        for way, target in steps[step_id].ways.items():
            following = (target, _written_after(written, steps[step_id].data, way).intersection(fields))
            if following not in before:
                before[following] = place
                waiting.append(following)
    return before


def _written_after(written: frozenset[str], data: DataFlow, way: str) -> frozenset[str]:
    """A step that fails leaves the state as it was, besides telling the error."""
    if is_error_way(way):
        return written | frozenset(ERROR_FIELDS)
    return written.difference(data.clears).union(data.writes, data.writes_on.get(way, ()))


def _way_to(place: _Place | None, before: Mapping[_Place, _Place | None]) -> tuple[str, ...]:
    way: list[str] = []
    while place is not None:
        way.append(place[0])
        place = before[place]
    return tuple(reversed(way))
