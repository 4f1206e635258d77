"""The prefixes that a model's answer starts with, parsed strictly.

They are markers of a protocol between the pipeline and the model; users never see them.

A model's reasoning comes before them, between `<think>` and `</think>`. If the endpoint's template contains the opening
tag, the text begins inside the reasoning, and the closing tag is in a line of its own.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from groundwire_pipelines.errors import StepError

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
            _, closing_tag, rest = self._held.partition(self._closing_tag)
            # The rest may end with the beginning of the tag.
            self._held = rest if closing_tag else self._held[-_LONGEST_CLOSING_TAG:]
            if closing_tag:
                self._closing_tag = ""
            return bool(closing_tag)
        self._held = self._held.lstrip()
        for opening, closing in zip(_OPENING_TAGS, _CLOSING_TAGS, strict=True):
            if self._held.startswith(opening):
                self._held, self._closing_tag = self._held.removeprefix(opening), closing
                return True
        self._is_over = not any(tag.startswith(self._held) for tag in _OPENING_TAGS)
        return False


ROUTER_PREFIXES = {
    "semantic": "[SEMANTIC:]",
    "semantic_rerank": "[SEMANTIC_RERANK:]",
    "bm25": "[BM25:]",
    "hybrid": "[HYBRID:]",
    "direct": "[DIRECT:]",
}
"""The prefix of a router's answer, by the mode that it chooses."""

ANSWER_PREFIX = "[Answer:]"
REQUEST_PREFIX = "[Requesting data on:]"
_ALL_PREFIXES = (*ROUTER_PREFIXES.values(), ANSWER_PREFIX, REQUEST_PREFIX)
_CODE_FENCE = "```"


@dataclass(frozen=True, slots=True)
class RouterChoice:
    """The router's choice: the name of its prefix, and the query."""

    mode: str
    query: str


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """The model's answer without its prefix: the final answer (`is_final`), or a request for more data."""

    is_final: bool
    text: str


def without_markers(text: str) -> str:
    """A text that has no protocol, such as a translation, without prefixes at its start."""
    text = text.strip()
    while prefix := next((marker for marker in _ALL_PREFIXES if text.startswith(marker)), ""):
        text = text.removeprefix(prefix).strip()
    return text


def parse_router_choice(text: str) -> RouterChoice:
    """Parses a router's answer by ROUTER_PREFIXES; only `direct` may leave the query empty.

    Raises:
        StepError: `prefix-malformed`.
    """
    choice = parse_choice(text, {prefix: mode for mode, prefix in ROUTER_PREFIXES.items()})
    if not choice.query and choice.mode != "direct":
        raise _malformed(f"a query must follow {ROUTER_PREFIXES[choice.mode]}")
    return choice


def parse_choice(text: str, names: Mapping[str, str]) -> RouterChoice:
    """Parses an answer of exactly one line with exactly one prefix, at its start.

    White space around the line is ignored. No prefix of `names` may begin with another.

    Raises:
        StepError: `prefix-malformed`.
    """
    line = text.strip()
    if len(line.splitlines()) > 1:
        raise _malformed("the router must answer with exactly one line, without a code fence")
    for prefix, name in names.items():
        if line.startswith(prefix):
            query = line.removeprefix(prefix).strip()
            if any(other in query for other in names):
                raise _malformed("the router must answer with exactly one prefix")
            return RouterChoice(name, query)
    raise _malformed(f"the router's line must start with one of {' '.join(names)}, spelt exactly so")


def parse_answer_reply(text: str, *, may_repeat: bool = False) -> AnswerReply:
    """Parses the answering model's text: one prefix at its start, and none at the start of a later line.

    Lines of code between fences do not count. With `may_repeat` no later line does: an answer may quote a prefix.

    Raises:
        StepError: `prefix-malformed`.
    """
    reply = text.strip()
    for prefix in (ANSWER_PREFIX, REQUEST_PREFIX):
        if reply.startswith(prefix):
            rest = reply.removeprefix(prefix).strip()
            if not rest:
                raise _malformed(f"a text must follow {prefix}")
            if not may_repeat and any(map(_begins_with_prefix, _lines_outside_fences(rest))):
                raise _malformed("an answer must have exactly one prefix")
            return AnswerReply(prefix == ANSWER_PREFIX, rest)
    raise _malformed(f"an answer must start with {ANSWER_PREFIX} or {REQUEST_PREFIX}, spelt exactly so")


def _begins_with_prefix(line: str) -> bool:
    return line.startswith((ANSWER_PREFIX, REQUEST_PREFIX))


def _lines_outside_fences(text: str) -> Iterator[str]:
    is_fenced = False
    for line in map(str.lstrip, text.splitlines()):
        if line.startswith(_CODE_FENCE):
            is_fenced = not is_fenced
        elif not is_fenced:
            yield line


class AnswerStream:
    """Passes on the pieces of an answer as they arrive, once they are known to be the final answer.

    Everything is held back until the prefix is complete; reasoning before it and a request for more data are never
    passed on. `opening` is passed on before the answer. An answer after reasoning without an opening tag is not passed
    on either, because such reasoning is recognised only at its end.
    """

    def __init__(self, tell: Callable[[str], None], opening: str = "") -> None:
        self._tell = tell
        self._opening = f"{opening}\n\n" if opening else ""
        self._reasoning = ReasoningFilter()
        self._held = ""
        self._is_final = False
        self._is_other = False

    def feed(self, piece: str) -> None:
        """Takes the next piece, which may end anywhere, even in the middle of the prefix."""
        text = self._reasoning.feed(piece)
        if self._is_final and text:
            self._tell(text)
        elif not self._is_other:
            self._decide((self._held + text).lstrip())

    def _decide(self, beginning: str) -> None:
        if not beginning.startswith(ANSWER_PREFIX):
            self._is_other = not ANSWER_PREFIX.startswith(beginning)
            self._held = "" if self._is_other else beginning
            return
        self._held = ANSWER_PREFIX
        text = beginning.removeprefix(ANSWER_PREFIX).lstrip()
        if text:
            self._is_final = True
            self._tell(f"{self._opening}{text}")


def _malformed(rule: str) -> StepError:
    """The error for a reply, without quoting it: a refused reply appears only in a trace with texts."""
    return StepError("prefix-malformed", rule)
