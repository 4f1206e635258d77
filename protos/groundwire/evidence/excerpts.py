"""The lines of a node that a passage shows: all of them, those that answer a question, or the declaration alone.

Tokens are estimated from the length of each line and the tokens of the whole text, which are known. That costs no
tokenising; the block of a passage is counted exactly when it is laid out.
"""

import re
from collections.abc import Sequence
from itertools import groupby

from groundwire.evidence.evidence_nodes import EvidenceNode, Excerpt, Part, PassageForm
from groundwire.evidence.question_words import QuestionWords, has_word
from groundwire.evidence.statements import Statements, head_of

_MOST_PARTS = 3
"""The most statements that are chosen by the question's words."""
_MARK_TOKENS = 8
"""The tokens of a mark for lines that are left out, and of the number after it."""
_SHORT_GAP = 2
"""A gap of this many lines between two parts is shown."""
_HEAD_LINES = 12
"""The most lines of a head; of a longer one the first is shown."""
_ATTRIBUTE_STARTS = ("@", "[", "#[")
"""The beginnings of lines before a declaration that are not the declaration itself."""
_COMMENT_STARTS = ("//", "/*", "* ", "# ", "-- ")
_COMMENT_WEIGHT = 0.3
_PROSE_KINDS = frozenset({"md", "rst", "text", "txt", "html", "adoc"})
_LINES_OF_NAME = 2
_IMPORT_STARTS = (
    "import ",
    "from ",
    "using ",
    "#include",
    "use ",
    "require",
    "package ",
    "namespace ",
    "export * from",
)
_LICENCE_WORDS = ("licen", "copyright", "spdx", "all rights reserved")


def whole(node: EvidenceNode) -> Excerpt:
    """All lines of a node; of an outline all but imports."""
    if node.is_outline:
        return _of_lines(node, [not _is_import(line) for line in node.lines])
    return _of_lines(node, [True] * len(node.lines))


def best_line(node: EvidenceNode, words: QuestionWords) -> Excerpt:
    """The line of a node that says most: its declaration; of prose, the line with most of the question's words."""
    lines = node.lines
    first, last = head_of(lines)
    number = next((place for place in range(first, last + 1) if _declares(lines[place])), first)
    if node.kind in _PROSE_KINDS:
        weights = words.line_weights(lines)
        number = max(range(len(lines)), key=lambda place: (weights[place], -place))
    return _of_lines(node, [place == number for place in range(len(lines))])


def answering_part(node: EvidenceNode, words: QuestionWords, most_tokens: int) -> Excerpt | None:
    """The lines of a node that answer a question, within about some tokens: all of them where they fit.

    These are the head, and the statements that have most of the question's words, each with the lines that it is nested
    in. A statement is taken as a part of the largest statement around it that still fits. Of an outline these are the
    head and the lines with words of the question, without imports. None if not even the head's first line fits.
    """
    if node.is_outline or node.tokens_of(0, len(node.lines) - 1) <= most_tokens:
        complete = whole(node)
        if complete.tokens <= most_tokens:
            return complete
    choice = _Choice(node, most_tokens)
    if not choice.take_head():
        return None
    weights = _code_first(node, words.line_weights(node.lines))
    by_weight = sorted((number for number, weight in enumerate(weights) if weight > 0.0), key=lambda n: -weights[n])
    if node.is_outline:
        choice.take_lines(by_weight)
    else:
        choice.take_statements(by_weight)
    return choice.excerpt()


def lines_with(node: EvidenceNode, name: str) -> Excerpt | None:
    """The first two lines of a node that have a name as a whole word, assignments first; None if there is none."""
    places = [place for place, line in enumerate(node.lines) if has_word(line, name)]
    assigned = re.compile(rf"\b{re.escape(name)}\b\s*(?::[^=]*)?=(?!=)")
    best = sorted(places, key=lambda place: (assigned.search(node.lines[place]) is None, place))[:_LINES_OF_NAME]
    shown = [place in best for place in range(len(node.lines))]
    return _of_lines(node, shown) if best else None


class _Choice:
    """The lines chosen so far, and the tokens that are left."""

    def __init__(self, node: EvidenceNode, tokens: int) -> None:
        self._node = node
        self._statements = Statements(node.lines)
        self._shown = [False] * len(node.lines)
        self._left = tokens

    def take_head(self) -> bool:
        """Takes the head, or its first line; False if that does not fit."""
        first, last = head_of(self._node.lines)
        is_short = last - first < _HEAD_LINES
        return (is_short and self._take([(first, last)])) or self._take([(first, first)])

    def take_statements(self, numbers: Sequence[int]) -> None:
        """Takes statements that begin at, or surround, the given lines, best first."""
        taken = 0
        for number in numbers:
            if taken == _MOST_PARTS or self._left <= _MARK_TOKENS:
                return
            if not self._shown[number] and not self._is_noise(number) and self._take_around(number):
                taken += 1

    def take_lines(self, numbers: Sequence[int]) -> None:
        """Takes single lines, best first, but no imports."""
        for number in numbers:
            if not _is_import(self._node.lines[number]):
                self._take([(number, number)], mark_tokens=2)

    def excerpt(self) -> Excerpt:
        """The chosen lines. Short gaps are filled."""
        start = 0
        while start < len(self._shown):
            end = start
            while end < len(self._shown) and not self._shown[end]:
                end += 1
            is_inner = start > 0 and end < len(self._shown)
            if is_inner and end - start <= _SHORT_GAP and not self._node.is_outline:
                self._shown[start:end] = [True] * (end - start)
            start = end + 1
        return _of_lines(self._node, self._shown)

    def _take_around(self, number: int) -> bool:
        """Takes the largest statement around a line that fits; the line's own statement, or its first line, else."""
        outer = [number, *self._statements.outer_lines(number)]
        for place in range(len(outer) - 1, -1, -1):
            first, last = outer[place], self._statements.ends[outer[place]]
            if self._take([*((line, line) for line in outer[place + 1 :]), (first, last)]):
                return True
        return self._take([(line, line) for line in outer])

    def _take(self, ranges: Sequence[tuple[int, int]], mark_tokens: int = _MARK_TOKENS) -> bool:
        """Takes all lines of the ranges if they fit."""
        cost = mark_tokens
        for first, last in ranges:
            if not all(self._shown[first : last + 1]):
                cost += self._node.tokens_of(first, last)
        if cost > self._left:
            return False
        for first, last in ranges:
            self._shown[first : last + 1] = [True] * (last + 1 - first)
        self._left -= cost
        return True

    def _is_noise(self, number: int) -> bool:
        line = self._node.lines[number]
        return _is_import(line) or any(word in line.lower() for word in _LICENCE_WORDS)


def _of_lines(node: EvidenceNode, shown: Sequence[bool]) -> Excerpt:
    parts: list[Part] = []
    tokens = 0
    for is_shown, group in groupby(range(len(shown)), key=lambda number: shown[number]):
        numbers = list(group)
        if is_shown:
            parts.append(Part(numbers[0], tuple(node.lines[numbers[0] : numbers[-1] + 1])))
            tokens += node.tokens_of(numbers[0], numbers[-1])
    tokens += _MARK_TOKENS * max(len(parts) - 1, 0)
    form = PassageForm.WHOLE if all(shown) else PassageForm.PART
    return Excerpt(tuple(parts), PassageForm.OUTLINE if node.is_outline else form, tokens)


def _code_first(node: EvidenceNode, weights: Sequence[float]) -> list[float]:
    """The weights of lines, less for comments and documentation within code: what the code does answers better."""
    if node.kind in _PROSE_KINDS:
        return list(weights)
    lowered = []
    in_string = False
    for line, weight in zip(node.lines, weights, strict=True):
        text = line.strip()
        quotes = text.count('"""') + text.count("'''")
        is_comment = in_string or quotes > 0 or text.startswith(_COMMENT_STARTS)
        in_string ^= quotes % 2 == 1
        lowered.append(weight * _COMMENT_WEIGHT if is_comment else weight)
    return lowered


def _declares(line: str) -> bool:
    text = line.strip()
    return len(text) > 1 and not text.startswith(_ATTRIBUTE_STARTS)


def _is_import(line: str) -> bool:
    return line.lstrip().startswith(_IMPORT_STARTS)
