"""The hosts that the value of an environment variable names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from groundwire_ingest.tree.services.statements import Variable

ADDRESS_CONFIDENCE = 0.9
BARE_WORD_CONFIDENCE = 0.7
MAX_VALUE_CHARACTERS = 4096

HOLE = "\ufffd"
"""The placeholder for a part of a text that is known only when it is deployed."""

_NESTED_DEFAULTS = 8
_DEFAULT = re.compile(r"\$\{\w++(?::?-(?P<default>[^{}]*+)|[^{}]*+)\}")
_REFERENCE = re.compile(r"\$\(\w+\)|\$[A-Za-z_]\w*")
_SEPARATORS = re.compile(r"[\s,;|\"'{}()\[\]<>]+")
_LIST = re.compile(r"(?:(?<!\s)\s++)?[,;]\s*+")
_AUTHORITY_END = re.compile(r"[/?#\\]")
_GRPC_TARGET = re.compile(r"(?:dns|passthrough):///", re.IGNORECASE)
_KEYED = re.compile(r"(?:host|hostname|server|source|addr|address)=(?:tcp:)?(?P<host>.+)", re.IGNORECASE)
_HOST = re.compile(rf"(?P<host>[A-Za-z0-9_](?:[\w.-]*[A-Za-z0-9_])?)\.?(?P<port>:(?:\d{{1,5}}|{HOLE}))?", re.ASCII)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ADDRESS_WORD = re.compile(
    "(?:ADDR|ADDRESS|BROKER|CONNECTION|DSN|ENDPOINT|HOST|HOSTNAME|SERVER|SERVICE|TARGET|URI|URL)(?:E?S)?$"
)


@dataclass(frozen=True, slots=True)
class Address:
    """A host's name, without the port, and how sure it is that the value means a host by it."""

    host: str
    confidence: float


def with_defaults(text: str) -> str:
    """`text` with the default of each `${NAME:-default}`, and HOLE for a variable without one.

    `$$` is a dollar, as in Compose; Kubernetes writes its variables `$(NAME)`. Defaults may nest 8 deep.
    """
    return "$".join(_with_defaults(part) for part in text.split("$$"))


def addresses(variable: Variable) -> Iterator[Address]:
    """The hosts that a variable's value names, in order; the same may come more than once.

    ADDRESS_CONFIDENCE applies to the host of a URL, and to a host with a port or with `user:password@` before it. It
    also applies to one after `Host=` or `Server=`, as in connection strings, alone or several in a list.
    BARE_WORD_CONFIDENCE has a word, or each of a list, when the variable's name says that it is an address
    (`AUTH_HOST`, `brokerUrl`). Neither an image (`REDIS_IMAGE`), which looks like a host with a port, nor a value of
    more than MAX_VALUE_CHARACTERS has any.
    """
    words = [word.upper() for word in _WORD.findall(variable.name)]
    if len(variable.value) > MAX_VALUE_CHARACTERS or words[-1:] == ["IMAGE"]:
        return
    text = _GRPC_TARGET.sub("dns://", with_defaults(variable.value)).replace("@tcp(", "@")
    for piece in _SEPARATORS.split(text):
        host = _stated_host(piece)
        if host:
            yield Address(host, ADDRESS_CONFIDENCE)
    if any(_ADDRESS_WORD.search(word) for word in words):
        for word in _LIST.split(text.strip(" \t\r\n\"'")):
            match = _HOST.fullmatch(word)
            if match and not match["port"]:
                yield Address(match["host"], BARE_WORD_CONFIDENCE)


def _with_defaults(text: str) -> str:
    for _ in range(_NESTED_DEFAULTS):
        text = _DEFAULT.sub(lambda match: match["default"] or HOLE, text)
    return _REFERENCE.sub(HOLE, text)


def _stated_host(piece: str) -> str:
    """The host of a piece that has the form of an address; "" for any other."""
    before, is_url, after = piece.partition("://")
    keyed = _KEYED.fullmatch(piece)
    rest = after if is_url else keyed["host"] if keyed else before
    user, _, host_and_port = _AUTHORITY_END.split(rest, maxsplit=1)[0].rpartition("@")
    match = _HOST.fullmatch(host_and_port)
    is_stated = match is not None and bool(is_url or keyed or match["port"] or ":" in user)
    return match["host"] if match is not None and is_stated else ""
