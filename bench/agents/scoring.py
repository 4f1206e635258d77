"""What agents needed and found: calls and characters until they stated places, and how many of these are right."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.agents.calls import Call
from bench.agents.exercise import Task
from bench.repositories.places import in_file
from bench.repositories.tables import Alternatives, Place
from bench.shared.results import ABSENT, Grid


@dataclass(frozen=True, slots=True)
class Score:
    """An agent's score for a question.

    Attributes:
        is_answered: True if it stated places.
        has_primary: True if the primary place is among them.
        places_found: How many places of the question are among them.
        places: How many places the question has.
        calls: How many calls it made until then.
        characters: What these calls printed.
    """

    is_answered: bool
    has_primary: bool
    places_found: int
    places: int
    calls: int
    characters: int


def score_of(task: Task, calls: Iterable[Call]) -> Score:
    """The score for a question; calls after its first answer, and those of other questions, do not count."""
    count = characters = 0
    stated: Sequence[Place] | None = None
    for call in calls:
        if call.question != task.number:
            continue
        if call.is_answer:
            stated = [_stated(word) for word in call.words[1:]]
            break
        count += 1
        characters += call.characters
    places = task.question.places
    hits = [any(_is_one_of(place, alternatives) for place in stated or ()) for alternatives in places]
    return Score(stated is not None, hits[0], sum(hits), len(places), count, characters)


def grid(scores: Mapping[str, Mapping[str, Sequence[Score]]], model: str) -> Grid:
    """A row for each agent and set, one for each agent, and the first agent's share of the last one's effort."""
    headings = ["agent, set", "questions", "answered", "primary", "places", "of", "calls", "characters"]
    rows = []
    totals: list[Sequence[Score]] = []
    for agent, by_set in scores.items():
        rows += [_row(f"{agent}, {name}", task_scores) for name, task_scores in by_set.items()]
        totals.append([score for task_scores in by_set.values() for score in task_scores])
        rows.append(_row(agent, totals[-1]))
    first, last = totals[0], totals[-1]
    ratios = [
        _ratio(*(sum(getattr(score, name) for score in task_scores) for task_scores in (first, last)))
        for name in _COMPARED
    ]
    rows.append([f"{next(iter(scores))} / {list(scores)[-1]}", *[""] * 3, ratios[0], "", *ratios[1:]])
    return Grid(f"Calls and characters until the places are stated; {model} played", headings, rows)


_COMPARED = ("places_found", "calls", "characters")


def _row(name: str, scores: Sequence[Score]) -> list[str]:
    sums = (
        len(scores),
        sum(score.is_answered for score in scores),
        sum(score.has_primary for score in scores),
        sum(score.places_found for score in scores),
        sum(score.places for score in scores),
        sum(score.calls for score in scores),
        sum(score.characters for score in scores),
    )
    return [name, *(f"{number:,}" for number in sums)]


def _ratio(first: int, last: int) -> str:
    return f"{first / last:.2f}" if last else ABSENT


def _stated(word: str) -> Place:
    path, _, symbol = word.partition("#")
    return Place(path.removeprefix("./"), symbol.rpartition(".")[2].partition("(")[0])


def _is_one_of(stated: Place, alternatives: Alternatives) -> bool:
    """True if the stated place is one of the alternatives; a file is stated by any place in it."""
    return any(in_file(stated.path, place.path) and place.symbol in ("", stated.symbol) for place in alternatives)
