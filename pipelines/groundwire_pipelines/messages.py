"""What messages of the contract lack as values of a run: they cannot be hashed."""

from collections.abc import Iterable
from typing import TypeVar

from google.protobuf.message import Message

_Message = TypeVar("_Message", bound=Message)


def distinct(messages: Iterable[_Message]) -> list[_Message]:
    """The messages in order, none twice."""
    return list({message.SerializeToString(deterministic=True): message for message in messages}.values())
