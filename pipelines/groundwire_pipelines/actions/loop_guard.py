"""`loop_guard`: limits the follow-up retrievals of one question."""

from collections.abc import Iterator, Sequence
from typing import Final

from groundwire.evidence.layout import in_one_line
from groundwire_client import NodeFilter
from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.search_query import parse_jsonish
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_MOST_WEAK_SEARCHES: Final = 2
_REPEATED: Final = "the same was asked for again"
_WEAK: Final = "two searches in a row found nothing or only weak matches"
_OVER: Final = "the limit of follow-up searches is reached"
_MOST_LISTED: Final = 5
_LONGEST_LISTED: Final = 160
"""How many requests an answer lists, and the most characters of each."""


async def run(settings: StepSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Counts a follow-up; ends with `on_continue` while `max_turn_loops` allows it, else with `on_limit`.

    A repeated request also ends with `on_limit`, because the same search would find the same. So does a request after
    two searches in a row that found nothing or only weak matches by their `check_retrieval` steps, and one for which
    `max_steps` leaves too few steps. Requests are the
    same if their filters are equal and their words differ only in case, white space and a full stop. With `on_continue`
    the results so far are kept, and the next retrieval adds to them. With `on_limit` every later answer begins with a
    note that it is incomplete, and for what was searched. Until there is one, `final_answer_en` is a fixed text that
    claims nothing.

    Raises:
        StepError: `settings-key-missing`.
    """
    limit = runtime.settings.max_turn_loops
    if limit is None:
        raise StepError("settings-key-missing", "settings.max_turn_loops is required to guard a loop")
    request = state.last_model_response
    is_repeated = _meaning(request) in map(_meaning, state.data_requests)
    is_weak = state.weak_searches >= _MOST_WEAK_SEARCHES
    state.turn_loop_counter += 1
    detail = {"turn_loop_counter": state.turn_loop_counter, "max_turn_loops": limit, "repeated": is_repeated}
    is_over = state.turn_loop_counter > limit or not runtime.has_steps_for_loop
    if is_repeated or is_weak or is_over:
        requests = state.data_requests if is_repeated else [*state.data_requests, request]
        end = _REPEATED if is_repeated else _WEAK if is_weak else _OVER
        looked_for = "\n".join(("What was still looked for:", *_listed(requests)))
        state.incomplete = f"This answer is incomplete: {end}. {looked_for}"
        state.final_answer_en = (
            f"The evidence found in {state.repository} ({state.branch}) does not suffice to answer this question, and "
            f"{end}. {looked_for}\nAsk about one of these directly, or name the files or symbols that matter."
        )
        return Outcome("on_limit", detail)
    state.data_requests.append(request)
    state.keep_retrieval()
    return Outcome("on_continue", detail)


def _listed(requests: Sequence[str]) -> Iterator[str]:
    """The newest requests, each in one line: the answer that they end up in is kept as a turn."""
    if len(requests) > _MOST_LISTED:
        yield f"- …and {len(requests) - _MOST_LISTED} earlier requests"
    for request in requests[-_MOST_LISTED:]:
        yield f"- {in_one_line(request, _LONGEST_LISTED)}"


def _meaning(request: str) -> tuple[str, NodeFilter]:
    """A key that is equal for two requests for the same search."""
    parsed = parse_jsonish(request)
    return _words(parsed.query), parsed.filter


def _words(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


ACTION = Action(
    name="loop_guard",
    summary="Ends follow-up retrievals at max_turn_loops, at a repeated request, or after two weak searches.",
    settings=StepSettings,
    run=run,
    transitions=("on_continue", "on_limit"),
    required_settings=("max_turn_loops",),
    guards_loops=True,
    data_of=lambda _: DataFlow(
        reads=("last_model_response",),
        writes=("data_requests",),
        # If nothing was searched for, the evidence is a sentence that says so.
        writes_on={"on_limit": ("incomplete", "final_answer_en", "context_blocks")},
    ),
)
