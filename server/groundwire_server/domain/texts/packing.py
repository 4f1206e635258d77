"""Packing whole texts into a budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundwire_server.domain.response_size import of_skipped, of_text
from groundwire_server.domain.texts.prioritization import RequestedText
from groundwire_server.domain.texts.texts import SkippedNode, SkipReason, TextSize


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be packed. Exactly one of tokens and characters bounds the texts; bytes bound the response."""

    tokens: int | None
    chars: int | None
    response_bytes: int


@dataclass(frozen=True, slots=True)
class Packing:
    """The requested whose texts fit, in order, the others with their reason, and what the texts use."""

    chosen: tuple[RequestedText, ...]
    skipped: tuple[SkippedNode, ...]
    used_tokens: int
    used_chars: int


def pack(requested: Sequence[RequestedText], sizes: Mapping[str, TextSize], budget: Budget) -> Packing:
    """Takes requested in order as long as each fits what is left; one that does not fit is skipped, never cut.

    A text that fits the budget but not the response keeps its part of the budget for another call. So this call and one
    for the texts left out, with the rest of the budget, return the texts of a larger response. `sizes` holds the
    available requested. Every one's id counts towards `response_bytes`, chosen or skipped, so that the encoded answer
    stays within it.
    """
    chosen: list[RequestedText] = []
    skipped: list[SkippedNode] = []
    spent = TextSize(0, 0, sum(of_skipped(one.id) for one in requested))
    for one in requested:
        size = sizes.get(one.id)
        if size is None:
            skipped.append(SkippedNode(one.id, SkipReason.UNAVAILABLE))
            continue
        tokens, chars = spent.tokens + size.tokens, spent.chars + size.chars
        if _exceeds(tokens, budget.tokens) or _exceeds(chars, budget.chars):
            skipped.append(SkippedNode(one.id, SkipReason.OVER_BUDGET))
            continue
        response = spent.bytes + of_text(size.bytes, one.id, one.parent_id)
        if response > budget.response_bytes:
            skipped.append(SkippedNode(one.id, SkipReason.RESPONSE_LIMIT))
            response = spent.bytes
        else:
            chosen.append(one)
        spent = TextSize(tokens, chars, response)
    used = [sizes[one.id] for one in chosen]
    return Packing(tuple(chosen), tuple(skipped), sum(size.tokens for size in used), sum(size.chars for size in used))


def _exceeds(spent: int, limit: int | None) -> bool:
    return limit is not None and spent > limit
