"""The prefixes that a model's answer starts with (seed 001, Appendix A), parsed strictly.

They are markers of a protocol between the pipeline and the model, never something a user sees.
"""

from collections.abc import Callable
from dataclasses import dataclass

from groundwire_pipelines.errors import StepError

ROUTER_PREFIXES = {
    "semantic": "[SEMANTIC:]",
    "semantic_rerank": "[SEMANTIC_RERANK:]",
    "bm25": "[BM25:]",
    "hybrid": "[HYBRID:]",
    "direct": "[DIRECT:]",
}
"""What a router's line starts with, by the mode that it chooses."""

ANSWER_PREFIX = "[Answer:]"
REQUEST_PREFIX = "[Requesting data on:]"

QUOTED_CHARACTERS = 80
"""The most characters of a model's text that an error message quotes."""


@dataclass(frozen=True, slots=True)
class RouterChoice:
    """What the router decided: a key of ROUTER_PREFIXES, and the query, which only `direct` may leave empty."""

    mode: str
    query: str


@dataclass(frozen=True, slots=True)
class AnswerReply:
    """What the answering model said without its prefix: the answer (`is_final`), or what else it wants to see."""

    is_final: bool
    text: str


def parse_router_choice(text: str) -> RouterChoice:
    """Reads a router's answer: exactly one line with exactly one prefix, at its start.

    White space around the line is no part of it.

    Raises:
        StepError: `prefix-malformed`.
    """
    line = text.strip()
    if len(line.splitlines()) > 1:
        raise _malformed("the router must answer with exactly one line", line)
    for mode, prefix in ROUTER_PREFIXES.items():
        if line.startswith(prefix):
            query = line.removeprefix(prefix).strip()
            if any(other in query for other in ROUTER_PREFIXES.values()):
                raise _malformed("the router must answer with exactly one prefix", line)
            if not query and mode != "direct":
                raise _malformed(f"a query must follow {prefix}", line)
            return RouterChoice(mode, query)
    raise _malformed(f"the router's line must start with one of {' '.join(ROUTER_PREFIXES.values())}", line)


def parse_answer_reply(text: str) -> AnswerReply:
    """Reads the answering model's text: one prefix at its start, and none at the start of a later line.

    Raises:
        StepError: `prefix-malformed`.
    """
    reply = text.strip()
    for prefix in (ANSWER_PREFIX, REQUEST_PREFIX):
        if reply.startswith(prefix):
            rest = reply.removeprefix(prefix).strip()
            if not rest:
                raise _malformed(f"a text must follow {prefix}", reply)
            if any(line.lstrip().startswith((ANSWER_PREFIX, REQUEST_PREFIX)) for line in rest.splitlines()):
                raise _malformed("an answer must have exactly one prefix", reply)
            return AnswerReply(prefix == ANSWER_PREFIX, rest)
    raise _malformed(f"an answer must start with {ANSWER_PREFIX} or {REQUEST_PREFIX}", reply)


class AnswerStream:
    """Passes on the pieces of an answer as they come, once they are known to be the final answer.

    Everything is held back until the prefix is whole; a request for more data is never passed on.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._held = ""
        self._is_final = False

    def feed(self, piece: str) -> None:
        """Takes the next piece; a piece may end anywhere, in the middle of the prefix too."""
        if self._is_final:
            self._tell(piece)
            return
        self._held += piece
        answer = self._held.lstrip()
        text = answer.removeprefix(ANSWER_PREFIX).lstrip()
        if answer.startswith(ANSWER_PREFIX) and text:
            self._is_final = True
            self._tell(text)


def _malformed(rule: str, text: str) -> StepError:
    quoted = repr(text[:QUOTED_CHARACTERS]) + ("..." if len(text) > QUOTED_CHARACTERS else "")
    return StepError("prefix-malformed", f"{rule}; the model wrote {quoted}")
