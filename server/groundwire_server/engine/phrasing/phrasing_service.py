"""A language model that puts a question into the words of code: the question leaves this machine for it, no code does.

The protocol is that of OpenAI's chat completions.
"""

import json
import logging
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from groundwire_configuration.service_error import ServiceError
from groundwire_server.domain.errors import PhrasingUnavailableError
from groundwire_server.execution.call import Checkpoint

if TYPE_CHECKING:  # a server without model services does not load what speaks HTTP
    from groundwire_configuration.http_service import HttpService

INSTRUCTION = """\
You help to search the source code of a program that you have not seen. Rewrite the question of the user so that it \
uses the words of code. Answer with exactly two lines and nothing else:
- the first line says in technical terms what the code does, 8 to 15 words;
- the second line has 4 to 8 identifiers that such code is likely to have, with blanks between them.

Question: Why does the chat stop to show new messages after my laptop was asleep?
reconnect a websocket after the connection is lost, heartbeat timeout, subscribe again
WebSocketClient on_close reconnect heartbeat_interval resubscribe backoff_delay"""
"""The example is of no repository that `bench.repositories` measures: it would show the model an answer."""
_MOST_PHRASINGS = 2
_LONGEST_PHRASING = 400
_MOST_REPLY_BYTES = 262_144
_LIST_MARK = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Message:
    content: str


@dataclass(frozen=True, slots=True)
class _Choice:
    message: _Message


@dataclass(frozen=True, slots=True)
class _Completion:
    __pydantic_config__ = ConfigDict(extra="ignore")

    choices: Annotated[tuple[_Choice, ...], Field(min_length=1)]


_REPLY = TypeAdapter(_Completion)


class PhrasingService:
    """Asks a service for phrasings of questions; `model` is "" for its only one. Thread-safe.

    A service that fails in any way ends the call with PhrasingUnavailableError.
    """

    def __init__(self, service: "HttpService", model: str) -> None:
        self._service, self._model = service, model

    def phrasings(self, question: str, checkpoint: Checkpoint) -> tuple[str, ...]:
        """The question in technical terms, and likely identifiers; at most two, none of more than 400 characters.

        Raises PhrasingUnavailableError, and what the checkpoint raises while it waits.
        """
        body: dict[str, object] = {
            "messages": [
                {"role": "system", "content": INSTRUCTION},
                {"role": "user", "content": f"Question: {question}"},
            ],
            "temperature": 0,
            "max_tokens": 200,
        }
        if self._model:
            body["model"] = self._model
        try:
            return _phrasings_of(self._service.post(json.dumps(body).encode(), _MOST_REPLY_BYTES, checkpoint))
        except ServiceError as error:
            failure = PhrasingUnavailableError(str(error))
        except PhrasingUnavailableError as error:
            failure = error
        _LOG.warning("%s", failure)
        raise failure

    def close(self) -> None:
        """Ends the connections; no call may be under way."""
        self._service.close()


def _phrasings_of(reply: bytes) -> tuple[str, ...]:
    """The lines of a reply. Raises PhrasingUnavailableError for one without any."""
    try:
        content = _REPLY.validate_json(reply).choices[0].message.content
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "body"
        raise PhrasingUnavailableError(f"gave an unusable reply: {place}: {first['msg']}") from None
    lines = (_LIST_MARK.sub("", line).strip().strip("`")[:_LONGEST_PHRASING] for line in content.splitlines())
    phrasings = tuple(dict.fromkeys(filter(None, lines)))[:_MOST_PHRASINGS]
    if not phrasings:
        raise PhrasingUnavailableError("gave an empty reply")
    return phrasings
