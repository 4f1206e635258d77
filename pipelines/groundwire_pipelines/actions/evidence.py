"""The evidence for an answer: what this loop's retrieval rendered, after what earlier loops of the question found."""

import re
from collections.abc import Iterable

from groundwire_pipelines.rendering.shown import ShownText
from groundwire_pipelines.state import PipelineState

_HANDLE = re.compile(r"\[(\d{1,9})\]")


def evidence_blocks(state: PipelineState) -> list[str]:
    """All blocks of evidence, oldest first, none twice."""
    return list(dict.fromkeys([*state.earlier_context_blocks, *state.context_blocks]))


def evidence_text(state: PipelineState) -> str:
    """The evidence as it goes into a prompt: blocks with an empty line between."""
    return "\n\n".join(evidence_blocks(state))


def texts_shown(state: PipelineState) -> list[ShownText]:
    """All texts that the evidence shows, by handle."""
    return [*state.earlier_shown, *state.shown]


def handles_missing(texts: Iterable[ShownText], answer: str) -> list[int]:
    """The handles of texts that do not occur in an answer, as `[1]`."""
    named = {int(number) for number in _HANDLE.findall(answer)}
    return [one.handle for one in texts if one.handle not in named]
