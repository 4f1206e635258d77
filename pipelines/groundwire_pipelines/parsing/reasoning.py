"""What a model thinks aloud before it answers, which is no part of its answer.

Models put it between `<think>` and `</think>` at the start of their text. Where the endpoint's template holds the
opening tag, the text begins in the middle, and a closing tag stands in a line of its own.
"""

import re
from typing import Final

_OPENING: Final = re.compile(r"\s*<(think|thinking)>")
_CLOSING_LINE: Final = re.compile(r"^[ \t]*</think(?:ing)?>[ \t]*$", re.MULTILINE)
_CLOSING_TAGS: Final = ("</think>", "</thinking>")
_LONGEST_CLOSING_TAG: Final = max(map(len, _CLOSING_TAGS))
_OPENING_TAGS: Final = ("<think>", "<thinking>")


def without_reasoning(text: str) -> str:
    """The text after the reasoning at its start; all of a text without any, nothing of one that is reasoning only.

    Tags further on belong to the answer, as in an answer about such tags.
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
    """Leaves the reasoning at the start of a text out while the text comes in pieces.

    It knows reasoning by its opening tag; a closing tag whose opening one is missing is passed on.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closing_tag = ""
        self._is_over = False

    def feed(self, piece: str) -> str:
        """What of the text so far is now known to be no reasoning; a piece may end anywhere."""
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
        """Goes past one tag; False once more text is needed or the answer has begun."""
        if self._closing_tag:
            _, found, rest = self._held.partition(self._closing_tag)
            # What is left may end in the beginning of the tag.
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
