"""The evidence for an answer, and what to say without any."""

import re
from collections.abc import Iterable, Iterator, Sequence

from groundwire.evidence.layout import in_one_line
from groundwire_client import SkipReason
from groundwire_pipelines.action_parts.places import full_place
from groundwire_pipelines.evidence_graph import nodes_of, texts_of
from groundwire_pipelines.evidence_nodes import EvidenceNode, ShownText
from groundwire_pipelines.parsing.filters import EXCLUSIVE, NOT_COMBINABLE
from groundwire_pipelines.runtime import Runtime
from groundwire_pipelines.state import PipelineState

_MOST_PLACES = 8
_LONGEST_LINE = 400
_HANDLE = re.compile(r"\[(\d{1,9})\]")


def evidence_text(state: PipelineState) -> str:
    """The evidence as a prompt gets it: blocks with an empty line between them; "" if there is none."""
    return "\n\n".join(state.context_blocks)


def evidence_or_reason(state: PipelineState, runtime: Runtime) -> str:
    """The evidence; without any, the reason, and the nodes that were found nevertheless.

    As many nodes are listed as fit `max_context_tokens`, all of them if the pipeline has no such setting. The reason is
    always included.
    """
    return evidence_text(state) or "\n".join((*state.filter_notes, *_reason_and_nodes(state, runtime, nodes_of(state))))


def reason_in_brief(state: PipelineState, runtime: Runtime) -> str:
    """Why there is no answer, and the best places that were found, for an answer that is kept as a turn."""
    nodes = nodes_of(state)
    lines = (in_one_line(line, _LONGEST_LINE) for line in _reason_and_nodes(state, runtime, nodes[:_MOST_PLACES]))
    more = (_more(len(nodes) - _MOST_PLACES),) if len(nodes) > _MOST_PLACES else ()
    return "\n".join((*lines, *more))


def handles_missing(texts: Iterable[ShownText], answer: str) -> list[ShownText]:
    """The texts whose handles do not occur in an answer, as `[1]`."""
    named = {int(number) for number in _HANDLE.findall(answer)}
    return [shown_text for shown_text in texts if shown_text.handle not in named]


def _reason_and_nodes(state: PipelineState, runtime: Runtime, nodes: Sequence[EvidenceNode]) -> Iterator[str]:
    """The reason, and a line for each node; notes about filters take room of the same budget."""
    failed = f"The step {state.error_step!r} failed: {state.error_message}" if state.error_message else ""
    why = _why_no_text(state, runtime, len(nodes)) if nodes else _why_no_node(state)
    reason = "\n".join(filter(None, (failed, why)))
    yield reason
    left = runtime.settings.max_context_tokens
    if left is not None:
        # Reserves room for the line that counts further nodes, at its longest.
        left -= runtime.counter.count("\n".join((*state.filter_notes, reason, f"{_more(len(nodes))}\n")))
    for number, node in enumerate(nodes):
        line = f"- {full_place(node)}"
        if left is not None:
            left -= runtime.counter.count(f"{line}\n")
            if left < 0:
                if number:
                    yield _more(len(nodes) - number)
                return
        yield line


def _more(count: int) -> str:
    return f"…and {count} more"


def _why_no_node(state: PipelineState) -> str:
    """Why nothing was found; "" if a step failed before any search ended, whose error says enough."""
    where = f"{state.repository} ({state.branch})"
    report = state.search_report
    if report is None:
        return "" if state.error_message else f"No search was made in {where}."
    if report.reason == EXCLUSIVE:
        return f"Nothing was found in {where}: no node can pass both of its filters."
    if report.reason == NOT_COMBINABLE:
        return f"Nothing was found in {where}: its filters want different values of one key of the metadata."
    if report.is_filtered:
        return f"Nothing that passes the filter was found in {where}."
    return f"Nothing was found in {where}."


def weakness(state: PipelineState) -> str:
    """That the matches of the last search are weak, and how weak; "" if no step judged so."""
    report = state.search_report
    if report is None or not report.is_weak:
        return ""
    where = f"{state.repository} ({state.branch})"
    if report.weakness:
        return f"Only weak matches were found in {where}: {report.weakness}."
    similarity = "" if report.similarity is None else f"a similarity of {report.similarity:.2f} to the query"
    words = "" if report.words is None else f"{report.words:.0%} of its words"
    best = " and ".join(filter(None, (similarity, words)))
    return f"Only weak matches were found in {where}: the best have {best}."


def _why_no_text(state: PipelineState, runtime: Runtime, nodes: int) -> str:
    where = f"{state.repository} ({state.branch})"
    texts = texts_of(state)
    limit = f"max_context_tokens (--budget-tokens), which is {runtime.settings.max_context_tokens}"
    if texts and state.is_rendered:
        return f"Texts fetched from {where}: {len(texts)}. None of them fits {limit}: raise it."
    if texts:
        return f"Texts fetched from {where}: {len(texts)}. No step rendered them:"
    nodes_found = f"Nodes found in {where}: {nodes}"
    reasons = {skipped.reason for skipped in state.skipped_texts}
    if SkipReason.SKIP_REASON_OVER_BUDGET in reasons:
        return (
            f"{nodes_found}. None of their texts fits the budget of the step that fetches: "
            "raise it or max_context_tokens."
        )
    if SkipReason.SKIP_REASON_RESPONSE_LIMIT in reasons:
        return f"{nodes_found}. None of their texts fits a response:"
    if reasons:
        return f"{nodes_found}. The texts that were asked for are not there, or not for this caller and filter:"
    if weak := weakness(state):
        return f"{weak} Ask in other words, or name files, types or functions. The nearest places:"
    if state.is_rendered:
        return f"{nodes_found}. None of their texts fits {limit}: raise it."
    return f"{nodes_found}. No step fetched their texts:"
