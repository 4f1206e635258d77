"""Removes a model's reasoning before its answer.

Models put it between `<think>` and `</think>` at the start of their text. If the endpoint's template contains the
opening tag, the text begins inside the reasoning, and the closing tag is in a line of its own.
"""

import re
from typing import Final

_OPENING: Final = re.compile(r"\s*<(think|thinking)>")
_CLOSING_LINE: Final = re.compile(r"^[ \t]*</think(?:ing)?>[ \t]*$", re.MULTILINE)
_CLOSING_TAGS: Final = ("</think>", "</thinking>")
_LONGEST_CLOSING_TAG: Final = max(map(len, _CLOSING_TAGS))
_OPENING_TAGS: Final = ("<think>", "<thinking>")


def without_reasoning(text: str) -> str:
    """The text after the reasoning at its start; "" if it is reasoning only.

    Later tags belong to the answer, which may be about such tags.
    """
    begin = 0
    while (opening := _OPENING.match(text, begin)) is not None:
        closing_tag = f"</{opening[1]}>"
        closing = text.find(closing_tag, opening.end())
        if closing < 0:
            return ""
        begin = closing + len(closing_tag)
    if begin:
        return text[begin:]
    closing_line = _CLOSING_LINE.search(text)
    if closing_line is None or any(tag in text[: closing_line.start()] for tag in _OPENING_TAGS):
        return text
    return text[closing_line.end() :]


class ReasoningFilter:
    """Removes the reasoning at the start of a text that arrives in pieces.

    It recognises reasoning by its opening tag; a closing tag without an opening one is passed on.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closing_tag = ""
        self._is_over = False

    def feed(self, piece: str) -> str:
        """The part of the text that is now known not to be reasoning; a piece may end anywhere."""
        if self._is_over:
            return piece
        self._held += piece
        while self._step():
            pass
        if not self._is_over:
            return ""
        text, self._held = self._held, ""
        return text

    def _step(self) -> bool:
        """Consumes one tag; False if more text is needed or the answer has begun."""
        if self._closing_tag:
            _, found, rest = self._held.partition(self._closing_tag)
            # The rest may end with the beginning of the tag.
            self._held = rest if found else self._held[-_LONGEST_CLOSING_TAG:]
            if found:
                self._closing_tag = ""
            return bool(found)
        self._held = self._held.lstrip()
        for opening, closing in zip(_OPENING_TAGS, _CLOSING_TAGS, strict=True):
            if self._held.startswith(opening):
                self._held, self._closing_tag = self._held.removeprefix(opening), closing
                return True
        self._is_over = not any(tag.startswith(self._held) for tag in _OPENING_TAGS)
        return False
