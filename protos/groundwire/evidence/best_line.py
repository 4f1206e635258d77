"""The line of a text that says most about a question, cut so that what matches is in view."""

from collections.abc import Sequence

from groundwire.evidence.question_words import QuestionWords

_CUT = "…"
_LEAST_WIDTH = 3
_BEFORE = 4
"""A line that is cut shows this part of its width, one fourth, before the first word that matches."""


def best_line_of(lines: Sequence[str], question: str) -> int:
    """The position of the line with the most words of a question; words that few lines have weigh more.

    Of equal lines it is the first. Without a word of the question it is the first line with a letter or digit, else 0.
    Words that say nothing about code, such as `where`, do not count.
    """
    weights = QuestionWords(question, lines).line_weights(lines)
    if any(weights):
        return weights.index(max(weights))
    return next((place for place, line in enumerate(lines) if any(sign.isalnum() for sign in line)), 0)


def cut_in_view(line: str, question: str, width: int) -> str:
    """A line in at most `width` characters, with the first word of the question that it has in view."""
    if len(line) <= width or width < _LEAST_WIDTH:
        return line[: max(width, 0)]
    # Place by place, since a sign may become longer in lower case.
    lowered = "".join(sign.lower()[:1] for sign in line)
    places = [place for stem in QuestionWords(question, ()).stems if (place := lowered.find(stem)) >= 0]
    first = max(min(places, default=0) - width // _BEFORE, 0)
    first = min(first, len(line) - width + len(_CUT))
    if first == 0:
        return line[: width - len(_CUT)] + _CUT
    shown = line[first : first + width - len(_CUT)]
    if first + len(shown) < len(line):
        shown = shown[: -len(_CUT)] + _CUT
    return _CUT + shown
