"""The evidence that a prompt shows: that of all retrievals of a question, within one budget.

The evidence of a retrieval is rendered once. The newest one is shown as a whole; of earlier ones as much as has room
beside it, the best passages of each. A number means one passage for the whole question.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from groundwire.evidence.counter import Counter
from groundwire.evidence.layout import NAMED_HEADING, in_one_line
from groundwire.evidence.rendered import Rendered, as_text, taken_apart, within, without
from groundwire_pipelines.action_parts.places import full_place, service_line
from groundwire_pipelines.evidence_graph import services_of
from groundwire_pipelines.evidence_nodes import ShownText
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

WRITTEN: Final = ("is_rendered", "rendered", "added", "shown", "context_blocks")
"""The fields of the state that hold rendered evidence."""
_LONGEST_REQUEST: Final = 160
"""The most characters that the evidence quotes of a request that brought nothing new."""
_NOTES_SHARE: Final = 8
"""Notes may take one eighth of the budget."""
_MOST_DROPPED: Final = 8
"""The most passages of earlier evidence that are named because they have no room any more."""
_MOST_NUMBERS: Final = 1_000
_UNLIMITED: Final = 1 << 40


def earlier_ids(state: PipelineState) -> list[str]:
    """The nodes of earlier retrievals in the order of their numbers, as the next evidence must know them.

    In the place of a passage that no prompt shows any more is its number: so its node may be shown again, with a new
    number.
    """
    count = max(
        (shown_text.handle for retrieval in state.earlier_retrievals for shown_text in retrieval.added), default=0
    )
    shown = {shown_text.handle: shown_text.node.id for shown_text in state.shown if shown_text.handle <= count}
    return [shown.get(number, str(number)) for number in range(1, count + 1)]


def forget_many(state: PipelineState) -> None:
    """Forgets earlier evidence if more passages have been shown than a request for evidence can name."""
    if len(earlier_ids(state)) > _MOST_NUMBERS:
        state.earlier_retrievals = [replace(retrieval, rendered="", added=()) for retrieval in state.earlier_retrievals]
        state.shown, state.context_blocks = [], []


def budget_for_new(state: PipelineState, runtime: Runtime, budget: int) -> int:
    """What new evidence may take of a budget: all that earlier evidence and notes leave, and at least one half."""
    count = runtime.counter.count
    earlier = sum(count(f"{retrieval.rendered}\n\n") for retrieval in state.earlier_retrievals if retrieval.rendered)
    notes = sum(count(f"{line}\n") for line in _notes(state, budget, runtime.counter))
    return max(budget // 2, budget - earlier) - notes


def lay_out(state: PipelineState, runtime: Runtime, budget: int | None) -> None:
    """Sets `context_blocks` and `shown` to the evidence of all retrievals that fits a budget; None means no limit."""
    counter = runtime.counter
    left = _UNLIMITED if budget is None else budget
    notes = _notes(state, left, counter)
    left -= sum(counter.count(f"{line}\n") for line in notes)
    *earlier, newest = state.retrievals()
    new = within(taken_apart(newest.rendered), left, counter)
    left -= _tokens(new, counter)
    blocks: list[str] = []
    shown: list[ShownText] = []
    dropped: list[ShownText] = []
    again = {shown_text.node.id for shown_text in newest.added}
    for place, retrieval in enumerate(earlier):
        later = {shown_text.node.id for other in earlier[place + 1 :] for shown_text in other.added}
        stale = [shown_text.handle for shown_text in retrieval.added if shown_text.node.id in again | later]
        still_shown = without(taken_apart(retrieval.rendered), stale)
        kept = within(Rendered(passages=still_shown.passages), left // (len(earlier) - place), counter)
        left -= _tokens(kept, counter)
        blocks.append(as_text(kept))
        numbers = {passage.number for passage in kept.passages}
        shown += (shown_text for shown_text in retrieval.added if shown_text.handle in numbers)
        dropped += (
            shown_text
            for shown_text in retrieval.added
            if shown_text.handle not in numbers and shown_text.handle not in stale
        )
    numbers = {passage.number for passage in new.passages}
    shown += (shown_text for shown_text in newest.added if shown_text.handle in numbers)
    rows = list(_dropped_rows(dropped, left, counter))
    state.shown = sorted(shown, key=lambda shown_text: shown_text.handle)
    blocks += (as_text(new), "\n".join(rows))
    kept_blocks = [block.rstrip("\n") for block in blocks if block]
    state.context_blocks = [*kept_blocks, *(["\n".join(notes)] if notes and kept_blocks else [])]


def places_of(state: PipelineState) -> str:
    """The evidence without its texts: the places of all that it shows and names, with edges, and the notes."""
    return "\n".join(taken_apart(f"{block}\n").places.rstrip("\n") for block in state.context_blocks)


def _tokens(rendered: Rendered, counter: Counter) -> int:
    text = as_text(rendered)
    return counter.count(f"{text}\n") if text else 0


def _dropped_rows(dropped: list[ShownText], left: int, counter: Counter) -> Iterator[str]:
    """The rows of passages that earlier evidence showed, as far as they fit."""
    left -= counter.count(f"\n{NAMED_HEADING}\n")
    for place, dropped_text in enumerate(dropped[:_MOST_DROPPED]):
        row = f"- [{dropped_text.handle}] {full_place(dropped_text.node)}"
        left -= counter.count(f"{row}\n")
        if left < 0:
            return
        if not place:
            yield NAMED_HEADING
        yield row


def _notes(state: PipelineState, budget: int, counter: Counter) -> list[str]:
    """Notes below the evidence, within an eighth of the budget.

    They are filters without effect, requests that brought nothing new, the newest first, and services.
    """
    requests = (in_one_line(request, _LONGEST_REQUEST) for request in reversed(_fruitless(state)))
    repeated_requests = (f'The request "{request}" brought nothing new.' for request in requests)
    lines: list[str] = []
    left = budget // _NOTES_SHARE - counter.count("\n\n")
    for line in (*state.filter_notes, *repeated_requests, *map(service_line, services_of(state))):
        left -= counter.count(f"{line}\n")
        if left < 0:
            break
        lines.append(line)
    return lines


def _fruitless(state: PipelineState) -> list[str]:
    """The requests whose retrieval was rendered and showed nothing new, oldest first."""
    requests: Mapping[int, str] = dict(enumerate(state.data_requests, start=1))
    return [
        requests[place]
        for place, retrieval in enumerate(state.retrievals())
        if place in requests and not retrieval.added and (place < len(state.earlier_retrievals) or state.is_rendered)
    ]
