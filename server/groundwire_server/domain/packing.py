"""Packing whole texts into a budget (seed 000, "Option A: atomic snippets")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundwire_server.domain.prioritization import Candidate
from groundwire_server.domain.texts import SkippedNode, SkipReason, TextSize

SKIPPED_OVERHEAD_BYTES = 16
"""An upper bound on what a skipped entry adds to a response besides its id."""
TEXT_OVERHEAD_BYTES = 160
"""An upper bound on what a text adds besides its strings: field tags, lengths, numbers, the content hash."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be packed. Exactly one of tokens and characters bounds the texts; bytes bound the response."""

    tokens: int | None
    chars: int | None
    response_bytes: int


@dataclass(frozen=True, slots=True)
class Packing:
    """The candidates whose texts fit, in order, the others with their reason, and what the texts use."""

    chosen: tuple[Candidate, ...]
    skipped: tuple[SkippedNode, ...]
    used_tokens: int
    used_chars: int


def pack(candidates: Sequence[Candidate], sizes: Mapping[str, TextSize], budget: Budget) -> Packing:
    """Takes candidates in order as long as each fits what is left; one that does not fit is skipped, never cut.

    `sizes` holds the available candidates. Every candidate's id counts towards `response_bytes`, chosen or skipped,
    so that the encoded answer stays within it.
    """
    chosen: list[Candidate] = []
    skipped: list[SkippedNode] = []
    used = TextSize(0, 0, sum(map(_skipped_bytes, candidates)))
    for candidate in candidates:
        size = sizes.get(candidate.id)
        if size is None:
            skipped.append(SkippedNode(candidate.id, SkipReason.UNAVAILABLE))
            continue
        total = _add(used, size, candidate)
        misfit = _misfit(total, budget)
        if misfit is None:
            chosen.append(candidate)
            used = total
        else:
            skipped.append(SkippedNode(candidate.id, misfit))
    return Packing(tuple(chosen), tuple(skipped), used.tokens, used.chars)


def _add(used: TextSize, size: TextSize, candidate: Candidate) -> TextSize:
    entry_bytes = size.bytes + len(candidate.parent_id.encode()) + TEXT_OVERHEAD_BYTES
    return TextSize(used.tokens + size.tokens, used.chars + size.chars, used.bytes + entry_bytes)


def _misfit(total: TextSize, budget: Budget) -> SkipReason | None:
    if budget.tokens is not None and total.tokens > budget.tokens:
        return SkipReason.OVER_BUDGET
    if budget.chars is not None and total.chars > budget.chars:
        return SkipReason.OVER_BUDGET
    if total.bytes > budget.response_bytes:
        return SkipReason.RESPONSE_LIMIT
    return None


def _skipped_bytes(candidate: Candidate) -> int:
    return len(candidate.id.encode()) + SKIPPED_OVERHEAD_BYTES
