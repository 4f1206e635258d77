"""Packs texts into a budget in their order, and of the first one that does not fit its head."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate

from groundwire.tokens import TokenCounter
from groundwire_client import _defaults as defaults
from groundwire_client._reading import ReadText
from groundwire_client._source_lines import Run


@dataclass(frozen=True, slots=True)
class Budget:
    """The most tokens or characters of texts, and how these are counted."""

    amount: int
    unit: str
    count: Callable[[str], int]

    @classmethod
    def of(cls, budget_tokens: int | None, max_chars: int | None) -> "Budget":
        """The budget that arguments give. Raises ValueError for both."""
        if budget_tokens is not None and max_chars is not None:
            raise ValueError("give exactly one budget: budget_tokens or max_chars")
        if max_chars is not None:
            return cls(max_chars, "characters", len)
        return cls(defaults.BUDGET_TOKENS if budget_tokens is None else budget_tokens, "tokens", _tokens)


@dataclass(frozen=True, slots=True)
class Packed:
    """The texts that are shown, the headings of those that are not, and what of the budget is used."""

    texts: tuple[ReadText, ...]
    left_out: tuple[str, ...]
    used: int


def packed(texts: Sequence[ReadText], budget: Budget) -> Packed:
    """As many texts as fit, in their order; the first one that does not fit is cut off."""
    shown: dict[int, ReadText] = {}
    sizes = [budget.count(text.text) for text in texts]
    left, is_cut = budget.amount, False
    for place, (text, size) in enumerate(zip(texts, sizes, strict=True)):
        if size <= left:
            shown[place] = text
            left -= size
        elif not is_cut:
            is_cut = True
            if (head := _head(text, left, budget)) is not None:
                shown[place] = head
                left -= budget.count(head.text)
    left_out = (
        f"{texts[place].heading}: {size:,} {budget.unit} do not fit"
        for place, size in enumerate(sizes)
        if place not in shown
    )
    return Packed(tuple(shown[place] for place in sorted(shown)), tuple(left_out), budget.amount - left)


def _head(text: ReadText, left: int, budget: Budget) -> ReadText | None:
    """The first lines, as many as fit; None if there are none."""
    lines = text.text.split("\n")
    sizes = list(accumulate(budget.count(f"{line}\n") for line in lines))
    count = sum(size <= left for size in sizes)
    while count and budget.count("\n".join(lines[:count])) > left:
        count -= 1
    if not count:
        return None
    runs, cut = _first_lines(text.runs, count)
    size = budget.count("\n".join(lines[count:]))
    if cut is None or not runs[-1].is_numbered:
        return replace(
            text, runs=runs, rest=f"{len(lines) - count} more lines, {size:,} {budget.unit}: a larger budget shows them"
        )
    last = max(run.last for run in text.runs)
    place = f"{text.citation.rpartition(':')[0]}:{cut}-{last}"
    return replace(text, runs=runs, rest=f"{cut}-{last} left out, {size:,} {budget.unit}: read {place}")


def _first_lines(runs: Sequence[Run], count: int) -> tuple[tuple[Run, ...], int | None]:
    """The first lines of runs, and the number of the next one; None where it has no number."""
    kept: list[Run] = []
    for run in runs:
        if count == 0:
            return tuple(kept), run.first or None
        if len(run.lines) > count:
            last = run.first + count - 1 if run.is_numbered else run.last
            kept.append(replace(run, last=last, lines=run.lines[:count]))
            return tuple(kept), run.first + count if run.is_numbered else None
        kept.append(run)
        count -= len(run.lines)
    return tuple(kept), None


@cache
def _counter() -> TokenCounter:
    return TokenCounter()


def _tokens(text: str) -> int:
    return _counter().count(text)
