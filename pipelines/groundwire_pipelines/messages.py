"""Protobuf messages cannot be hashed; this compares them by their bytes."""

from collections.abc import Iterable
from typing import TypeVar

from google.protobuf.message import Message

_Message = TypeVar("_Message", bound=Message)


def distinct(messages: Iterable[_Message]) -> list[_Message]:
    """The messages in order, each once."""
    return list({message.SerializeToString(deterministic=True): message for message in messages}.values())
