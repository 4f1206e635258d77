"""The parts of a long text that fit a question: whole lines, in order, with a mark for omitted lines.

As evidence shows them, lines have numbers: the first one, the first one after a mark, and those whose number can be
divided by 5. All other lines begin with blanks in its place, so that no text can imitate a number or a mark.

34 def total(order):
35     lines = order.lines
       if not lines:
…37-41
42     return sum(line.price for line in lines)
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from groundwire_client import NodeText
from groundwire_pipelines.rendering.shown import Excerpt
from groundwire_pipelines.rendering.words import stems
from groundwire_pipelines.runtime import Counter

_MOST_PARTS = 3
"""The most statements that are chosen by the question's words."""
_NUMBERED = 5
"""Every fifth line has its number. That takes 5 % more tokens, a number for every line 19 %."""
_MARK_TOKENS = 9
"""The most tokens of a mark and of the number after it, for line numbers below a million."""
_CLOSERS = ("}", ")", "]", "</", "end")
"""The beginnings of lines that close a block."""


def whole(source: NodeText, counter: Counter) -> Excerpt:
    """A whole text, without the line break at its end."""
    lines = source.text.removesuffix("\n").split("\n")
    return _part(lines, [True] * len(lines), first_line(source), counter)


def excerpt(source: NodeText, words: Collection[str], most_tokens: int, counter: Counter) -> Excerpt | None:
    """As much of a text as fits: all of it, else its head with the statements that share most words with a question.

    The head is the declaration, without comments before it. A word weighs more the fewer lines contain it. A statement
    is a line with the lines indented below it, and is shown with the lines that it is nested in; if it does not fit,
    its first line alone may. At most three are chosen. If tokens are left, the comment before the head is added if it
    fits whole, then lines from the head on. None if not even the head's first line fits.

    Args:
        source: The text.
        words: The stems of the question's words.
        most_tokens: The most tokens; the marks may exceed it by a few.
        counter: Counts them.
    """
    complete = whole(source, counter)
    if complete.tokens <= most_tokens:
        return complete
    lines, first = complete.text.split("\n"), first_line(source)
    chosen = _Choice(lines, first, most_tokens - _MARK_TOKENS, counter)
    if not chosen.take_head():
        return None
    for number in _by_weight(lines, words)[:_MOST_PARTS]:
        chosen.take_statement(number)
    chosen.fill_up()
    return _part(lines, chosen.shown(), first, counter)


def first_line(source: NodeText) -> int:
    """The number of a text's first line in its file; 0 if it is not a run of lines of the file, as an outline."""
    lines = source.text.removesuffix("\n").count("\n") + 1
    location = source.location
    return location.start_line if location.end_line - location.start_line + 1 == lines else 0


class _Choice:
    """The lines chosen so far, and the remaining tokens."""

    def __init__(self, lines: Sequence[str], first: int, tokens: int, counter: Counter) -> None:
        self._costs = [counter.count(f"{line}\n") for line in (_numbered(lines, at, first) for at in range(len(lines)))]
        self._sums = [0]
        for cost in self._costs:
            self._sums.append(self._sums[-1] + cost)
        self._statements = Statements(lines)
        self._shown = [False] * len(lines)
        self._left = tokens

    def take_head(self) -> bool:
        """Takes the head, or at least its first line; False if that does not fit."""
        first, last = self._statements.head()
        mark_tokens = _MARK_TOKENS if first else 0
        return self._take([(first, last)], mark_tokens) or self._take([(first, first)], mark_tokens)

    def take_statement(self, number: int) -> None:
        """Takes the statement that begins at a line, or the line alone, with the lines that it is nested in."""
        if self._shown[number] or self._left <= _MARK_TOKENS:
            return
        outer = list(self._outer(number))
        if not self._take([*outer, (number, self._statements.ends[number])]):
            self._take([*outer, (number, number)])

    def fill_up(self) -> None:
        """Takes the comment before the head if all of it fits, then lines from the head on as long as they fit."""
        first, _ = self._statements.head()
        start = 0 if first and self._take([(0, first - 1)], 0) else first
        for number in range(start, len(self._shown)):
            if not self._take([(number, number)], 0):
                return

    def shown(self) -> list[bool]:
        """The shown lines. A gap that takes no more tokens than its mark is filled."""
        start = 0
        while start < len(self._shown):
            end = start
            while end < len(self._shown) and not self._shown[end]:
                end += 1
            if self._sums[end] - self._sums[start] <= _MARK_TOKENS:
                self._shown[start:end] = [True] * (end - start)
            start = end + 1
        return self._shown

    def _outer(self, number: int) -> Iterator[tuple[int, int]]:
        """The lines that a line is nested in and that are not shown yet, innermost first; no more than could fit."""
        parent = self._statements.parents[number]
        for _ in range(self._left):
            if parent < 0 or self._shown[parent]:
                return
            yield (parent, parent)
            parent = self._statements.parents[parent]

    def _take(self, ranges: Sequence[tuple[int, int]], mark_tokens: int = _MARK_TOKENS) -> bool:
        """Takes all lines of the ranges, ends included, if they fit with a mark for each range."""
        cost = mark_tokens * len(ranges)
        for first, last in ranges:
            if last - first > self._left:  # every line takes a token or more
                return False
            cost += sum(self._costs[line] for line in range(first, last + 1) if not self._shown[line])
        if cost > self._left:
            return False
        for first, last in ranges:
            self._shown[first : last + 1] = [True] * (last + 1 - first)
        self._left -= cost
        return True


def _by_weight(lines: Sequence[str], words: Collection[str]) -> list[int]:
    """The lines that share words with the question, those that share most first."""
    shared = [stems(line).intersection(words) for line in lines]
    spread: dict[str, int] = {}
    for found in shared:
        for word in found:
            spread[word] = spread.get(word, 0) + 1
    weights = [sum(1 / spread[word] for word in sorted(found)) for found in shared]
    return sorted((number for number, weight in enumerate(weights) if weight), key=lambda number: -weights[number])


def _part(lines: Sequence[str], shown: Sequence[bool], first: int, counter: Counter) -> Excerpt:
    """The shown lines, and for each gap a mark with its line numbers or its length."""
    plain: list[str] = []
    numbered: list[str] = []
    for is_shown, group in groupby(range(len(lines)), key=lambda at: shown[at]):
        run = list(group)
        if is_shown:
            plain += (lines[at] for at in run)
            numbered += (_numbered(lines, at, first, begins=at == run[0]) for at in run)
        else:
            plain.append(_mark(run[0], run[-1], first))
            numbered.append(plain[-1])
    source_tokens = counter.count("\n".join(line for line, is_shown in zip(lines, shown, strict=True) if is_shown))
    text = "\n".join(numbered)
    return Excerpt("\n".join(plain), text, counter.count(text), source_tokens, is_whole=all(shown))


def _numbered(lines: Sequence[str], at: int, first: int, *, begins: bool = False) -> str:
    """A line as evidence shows it: after its number, or after blanks. `begins`: no shown line is right before it."""
    number = first + at
    shown = str(number) if first and (begins or number % _NUMBERED == 0) else ""
    width = len(str(first + len(lines) - 1)) if first else 0
    return f"{shown:<{width}} {lines[at]}" if lines[at].strip() else shown


def _mark(start: int, end: int, first: int) -> str:
    if not first:
        return f"…{end - start + 1} line{'s' if end > start else ''}"
    return f"…{first + start}-{first + end}" if end > start else f"…{first + start}"


class Statements:
    """The statements of a text: a line and the lines indented below it. Lines are counted from 0."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._indents = _indents(lines)
        self._after_comments = _after_comments(lines)
        self.parents, self.ends = _nesting(self._indents)
        """For each line: the one that it is indented below (-1 for none), and the last one of its statement."""
        for number, end in enumerate(self.ends):
            after = end + 1
            if end > number and after < len(lines) and self._indents[after] == self._indents[number]:
                self.ends[number] = after if lines[after].lstrip().startswith(_CLOSERS) else end

    def head(self) -> tuple[int, int]:
        """The first and the last line of the head: attributes, and the declaration up to its body.

        A comment before them, such as a documentation comment, is not a part of it.
        """
        first = self._after_comments
        deeper = (number for number in range(first, len(self._indents)) if self._indents[number] > self._indents[first])
        return first, max(next(deeper, first + 1) - 1, first)


def _after_comments(lines: Sequence[str]) -> int:
    """The first line after the comments (`/* */`, `//`) at the start of a text; 0 for a text of comments alone."""
    in_block = False
    for number, line in enumerate(lines):
        text = line.strip()
        in_block = in_block or text.startswith("/*")
        if in_block:
            in_block = "*/" not in text
        elif text and not text.startswith("//"):
            return number
    return 0


def _indents(lines: Sequence[str]) -> list[int]:
    """The indentation of each line; a blank line has that of the next line that is not blank."""
    indents = [0] * len(lines)
    below = 0
    for number in range(len(lines) - 1, -1, -1):
        stripped = lines[number].lstrip()
        below = len(lines[number]) - len(stripped) if stripped else below
        indents[number] = below
    return indents


def _nesting(indents: Sequence[int]) -> tuple[list[int], list[int]]:
    """For each line the line that it is indented below (-1 for none), and the last line indented below it."""
    parents, ends = [-1] * len(indents), [len(indents) - 1] * len(indents)
    open_lines: list[int] = []
    for number, indent in enumerate(indents):
        while open_lines and indents[open_lines[-1]] >= indent:
            ends[open_lines.pop()] = number - 1
        parents[number] = open_lines[-1] if open_lines else -1
        open_lines.append(number)
    return parents, ends
