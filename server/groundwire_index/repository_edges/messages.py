"""Messages that one program sends and another one handles, known by the name of their type or of their topic."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from groundwire_index.repository_edges.confidences import GUESSED

SAME_NAME = 0.8
"""A message of another service has the same name: buses identify messages by name."""

MAX_HANDLERS = 32
"""A type of message with more handlers than this leads to none of them in particular."""
MAX_TOPIC_HANDLERS = 8
"""A topic with more handlers than this leads to none of them in particular."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a message is known by in the languages of one family.

    `name` is that of its type, or its topic. `bases` are the plain names of the type's bases, sorted.
    """

    family: str
    name: str
    bases: tuple[str, ...] = ()
    is_topic: bool = False

    @property
    def kind(self) -> tuple[str, str, bool]:
        """Messages that may be the same are equal in this."""
        return self.family, self.name, self.is_topic


@dataclass(frozen=True, slots=True)
class MessageHandler:
    """The node `key` handles a message; `type_key` is the node of the message's type, empty for a topic."""

    message: Message
    key: str
    type_key: str
    confidence: float


@dataclass(frozen=True, slots=True)
class MessageUse:
    """The node `key` sends a message, or is the type of it, as `edge_type` says: `Sends`, `HandledBy`."""

    message: Message
    key: str
    edge_type: str
    line: int
    confidence: float


def sameness(handled: Message, other: Message) -> float:
    """How sure it is that a handler of a message also handles another of its name; 0 if it does not."""
    if handled.is_topic:
        return 1.0
    if not set(handled.bases).isdisjoint(other.bases):
        return SAME_NAME
    return 0.0 if handled.bases else GUESSED


class HandlerMatching:
    """Finds the handlers of messages by name."""

    def __init__(self, handlers: Iterable[MessageHandler]) -> None:
        self._handlers: defaultdict[tuple[str, str, bool], list[MessageHandler]] = defaultdict(list)
        for handler in handlers:
            self._handlers[handler.message.kind].append(handler)

    def handlers(self, use: MessageUse) -> Iterator[tuple[str, float]]:
        """The keys of the handlers of a message, with the confidence of each."""
        message = use.message
        handlers = self._handlers.get(message.kind, [])
        most = MAX_TOPIC_HANDLERS if message.is_topic else MAX_HANDLERS
        if len({handler.key for handler in handlers}) > most:
            return
        for handler in handlers:
            same = sameness(handler.message, message)
            if same:
                yield handler.key, min(use.confidence, handler.confidence, same)
