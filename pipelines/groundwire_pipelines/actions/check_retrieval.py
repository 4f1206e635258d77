"""`check_retrieval`: branches on what the last search found."""

from typing import Annotated

from pydantic import Field

from groundwire_pipelines.actions.definition import Action, DataFlow, Outcome, StepSettings
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState, SearchReport

_CUT_WALKS = frozenset({"limit_reached", "response_limit"})
"""How a walk ends that reached more nodes than it may return."""


class CheckRetrievalSettings(StepSettings):
    """The keys of a `check_retrieval` step: each but the first way out of it needs the key that defines it."""

    few_below: Annotated[int, Field(ge=2)] | None = None
    """Fewer hits than this are few, and leave by `on_few`; not judged when absent."""
    weak_below: Annotated[float, Field(gt=0, le=1)] | None = None
    """Hits of which none is as similar to the query as this are weak, and leave by `on_weak`; not judged when absent.
    The similarity is the cosine of a `semantic` search without rerank; of `query` the best score of the reranker, else
    the best cosine. The scores of other searches mean something only beside those of the same answer: their hits are
    never weak."""
    truncated: bool = False
    """Whether a retrieval leaves by `on_truncated` when the response of its search, or the walk after it, could not
    hold all that was found; a walk that ends at its depth is none such."""


async def _check(step: CheckRetrievalSettings, state: PipelineState, runtime: Runtime) -> Outcome:
    """Leaves by the first way that holds, in the order none, few, weak, truncated, ok.

    Raises:
        StepError: `search-missing`, when nothing was searched before.
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
    # Where nothing was found there is nothing to render: the evidence is then a sentence that says so.
    data_of=lambda _: DataFlow(reads=("search_report",), writes_on={"on_none": ("context_blocks",)}),
)
