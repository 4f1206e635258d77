"""`check_retrieval`: branches on what the last search found."""

from dataclasses import replace
from typing import Annotated

from pydantic import Field

from groundwire_pipelines.action_definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.action_parts.evidence_text import reason_in_brief
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState, SearchReport

_CUT_WALKS = frozenset({"limit_reached", "response_limit"})
"""The reasons of walks that reached more nodes than they may return."""

_MOST_WORDS = 0.6
"""The share of the query's words that a hit can have by chance only in a query of few words."""


class CheckRetrievalSettings(StepSettings):
    """The keys of a `check_retrieval` step; `on_few`, `on_weak` and `on_truncated` each need their keys."""

    few_below: Annotated[int, Field(ge=2)] | None = None
    """Fewer hits than this end with `on_few`; not checked when absent."""
    weak_below: Annotated[float, Field(gt=0, le=1)] | None = None
    """Hits that are all less similar to the query than this are weak; not checked when absent. The similarity is the
    cosine; after `query` with a rerank, its best score."""
    words_below: Annotated[float, Field(gt=0, le=1)] | None = None
    """After a search without similarities, such as `bm25`: hits that each have a smaller share of the query's words
    than this are weak; not checked when absent. After any search, hits are not weak if one has 60 % of the words, or
    after `query` a name that is spelt much like one in the query."""
    weak: bool = False
    """True if evidence of a `gather_evidence` step that the server calls weak ends with `on_weak`."""
    gives_up: bool = False
    """True if `on_none` and `on_weak` set the answer to the reason, with the places that were found nevertheless."""
    truncated: bool = False
    """True if the step ends with `on_truncated` when the search, or the walk after it, was incomplete.

    A walk that ends at its depth does not count.
    """


async def _check(step: CheckRetrievalSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Ends with the first transition that applies, in the order none, few, weak, truncated, ok.

    Raises:
        StepError: `search-missing`, if there was no search before.
    """
    report = state.search_report
    if report is None:
        raise StepError(
            "search-missing",
            "no search went before this step: put gather_evidence, search_nodes, query or find_paths there",
        )
    is_cut = report.is_cut or (state.graph_debug is not None and state.graph_debug.reason in _CUT_WALKS)
    way = _way(step, report, is_cut=is_cut)
    state.search_report = replace(report, is_weak=way == "on_weak" or bool(report.weakness))
    has_failed = way in ("on_none", "on_weak")
    state.weak_searches = state.weak_searches + 1 if has_failed else 0
    if step.gives_up and has_failed:
        state.final_answer_en = reason_in_brief(state, runtime)
    measured = {"similarity": report.similarity, "words": report.words}
    measures = {name: "unknown" if value is None else round(value, 4) for name, value in measured.items()}
    return Outcome(way, {"hits": report.hits, **measures, "truncated": is_cut})


def _way(step: CheckRetrievalSettings, report: SearchReport, *, is_cut: bool) -> str:
    if report.hits == 0:
        return "on_none"
    if step.few_below is not None and report.hits < step.few_below:
        return "on_few"
    if _is_weak(step, report):
        return "on_weak"
    return "on_truncated" if step.truncated and is_cut else "on_ok"


def _is_weak(step: CheckRetrievalSettings, report: SearchReport) -> bool:
    if step.weak and report.weakness:
        return True
    if report.words is not None and report.words >= _MOST_WORDS:
        return False
    by_words = report.similarity is None
    measure, least = (report.words, step.words_below) if by_words else (report.similarity, step.weak_below)
    return measure is not None and least is not None and measure < least


def _ways(step: CheckRetrievalSettings) -> tuple[str, ...]:
    judged = {
        "on_few": step.few_below is not None,
        "on_weak": step.weak or step.weak_below is not None or step.words_below is not None,
        "on_truncated": step.truncated,
    }
    return ("on_none", *(way for way, is_judged in judged.items() if is_judged), "on_ok")


def _data(step: CheckRetrievalSettings) -> DataFlow:
    # Without hits the evidence is a sentence that says so; of weak ones a render step says so, without their texts.
    answer = ("final_answer_en",) if step.gives_up else ()
    written = {"on_none": ("node_texts", "context_blocks", *answer), "on_weak": ("node_texts", *answer)}
    return DataFlow(reads=("search_report",), writes_on=written)


ACTION = Action(
    name="check_retrieval",
    summary="Branches on whether the last search found nothing, few or weak hits, or more than could be returned.",
    settings=CheckRetrievalSettings,
    run=_check,
    transitions=("on_none", "on_few", "on_weak", "on_truncated", "on_ok"),
    transitions_of=_ways,
    data_of=_data,
)
