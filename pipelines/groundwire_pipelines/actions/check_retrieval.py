"""`check_retrieval`: branches on what the last search found."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState, SearchReport

_CUT_WALKS = frozenset({"limit_reached", "response_limit"})
"""The reasons of walks that reached more nodes than they may return."""


class CheckRetrievalSettings(StepSettings):
    """The keys of a `check_retrieval` step; `on_few`, `on_weak` and `on_truncated` each need their key."""

    few_below: Annotated[int, Field(ge=2)] | None = None
    """Fewer hits than this end with `on_few`; not checked when absent."""
    weak_below: Annotated[float, Field(gt=0, le=1)] | None = None
    """Hits that are all less similar to the query than this end with `on_weak`; not checked when absent. The similarity
    is the cosine of a `semantic` search without rerank; after `query` the best score of the reranker, else the best
    cosine. Scores of other searches are comparable only within one response, so their hits are never weak."""
    truncated: bool = False
    """Whether the step ends with `on_truncated` if the response of the search, or of the walk after it, did not hold
    all that was found; a walk that ends at its depth does not count."""


async def _check(step: CheckRetrievalSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Ends with the first transition that applies, in the order none, few, weak, truncated, ok.

    Raises:
        StepError: `search-missing`, if there was no search before.
    """
    report = state.search_report
    if report is None:
        raise StepError(
            "search-missing", "no search went before this step: put search_nodes, query or find_paths there"
        )
    similarity = "unknown" if report.similarity is None else round(report.similarity, 4)
    is_cut = report.is_cut or (state.graph_debug is not None and state.graph_debug.reason in _CUT_WALKS)
    detail = {"hits": report.hits, "similarity": similarity, "truncated": is_cut}
    return Outcome(_way(step, report, is_cut=is_cut), detail)


def _way(step: CheckRetrievalSettings, report: SearchReport, *, is_cut: bool) -> str:
    if report.hits == 0:
        return "on_none"
    if step.few_below is not None and report.hits < step.few_below:
        return "on_few"
    if step.weak_below is not None and report.similarity is not None and report.similarity < step.weak_below:
        return "on_weak"
    return "on_truncated" if step.truncated and is_cut else "on_ok"


def _ways(step: CheckRetrievalSettings) -> tuple[str, ...]:
    judged = {
        "on_few": step.few_below is not None,
        "on_weak": step.weak_below is not None,
        "on_truncated": step.truncated,
    }
    return ("on_none", *(way for way, is_judged in judged.items() if is_judged), "on_ok")


ACTION = Action(
    name="check_retrieval",
    summary="Branches on whether the last search found nothing, few or weak hits, or more than could be returned.",
    settings=CheckRetrievalSettings,
    run=_check,
    transitions=("on_none", "on_few", "on_weak", "on_truncated", "on_ok"),
    transitions_of=_ways,
    # If nothing was found there is nothing to render; the evidence is then a sentence that says so.
    data_of=lambda _: DataFlow(reads=("search_report",), writes_on={"on_none": ("context_blocks",)}),
)
