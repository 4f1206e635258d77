"""Calls to fuzz a server with. What a call is follows from the seed and its number."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random

from support.fuzzing.message_mutations import MessageMutator
from support.fuzzing.valid_requests import ADMINISTRATION, KNOWN, KNOWN_TO_ADMINISTRATION, READS, ValidRequest
from support.fuzzing.wire_mutations import WireMutator, delimited

Metadata = Sequence[tuple[str, str | bytes]]


class Kind(Enum):
    """What is wrong with a call."""

    MESSAGE = "message"
    """A well-formed message with fields that were changed."""
    WIRE = "wire"
    """Bytes that no library writes."""
    OVERSIZED = "oversized"
    """A message beyond what the server receives."""
    METADATA = "metadata"
    """A valid message with odd metadata."""
    TIMEOUT = "timeout"
    """A mutated message with less time than it may need."""


KINDS, WEIGHTS = tuple(Kind), (55, 30, 1, 12, 2)
_ADMINISTRATION_SHARE = 0.05
_ODD_TEXTS = ("", "-", "a" * 64, "a" * 65, "x" * 4_000, "a,b", "a;b", "%00", "null", "{}", "\\", " a ")
PATIENCE_SECONDS = 60.0
"""Enough for every call, whatever else the machine does."""


@dataclass(frozen=True, slots=True)
class HostileCall:
    """One call as it is sent."""

    number: int
    kind: Kind
    method: str
    content: bytes
    metadata: Metadata = ()
    seconds: float = PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class HostileCalls:
    """Makes calls for a server that receives at most `max_receive_bytes`; `tokens` are credentials to spoil."""

    seed: int
    max_receive_bytes: int
    tokens: Sequence[str] = ("a.b.c",)
    kinds: Sequence[Kind] = KINDS
    weights: Sequence[float] = WEIGHTS

    def numbered(self, first: int, count: int) -> Iterator[HostileCall]:
        """The calls of those numbers."""
        return map(self.make, range(first, first + count))

    def make(self, number: int) -> HostileCall:
        """The call of one number, whatever calls are made besides."""
        chance = Random(self.seed << 40 | number)
        (kind,) = chance.choices(self.kinds, self.weights)
        valid = chance.choice(ADMINISTRATION if chance.random() < _ADMINISTRATION_SHARE else READS)
        content, seconds = valid.message.SerializeToString(deterministic=True), PATIENCE_SECONDS
        metadata: Metadata = ()
        if kind is Kind.OVERSIZED:
            content = self._oversized(chance, valid)
        elif kind is Kind.METADATA:
            metadata = odd_metadata(chance, self.tokens)
        elif kind is Kind.TIMEOUT:
            content, seconds = _changed(chance, valid), chance.choice((0.0, 1e-9, 1e-4, 0.001, 0.005, 1e9))
        elif kind is Kind.WIRE:
            start = content if chance.random() < 0.7 else _changed(chance, valid)
            content = WireMutator(chance).mutate(start, valid.descriptor)
        else:
            content = _changed(chance, valid)
        if len(content) > self.max_receive_bytes:
            kind, seconds = Kind.OVERSIZED, PATIENCE_SECONDS
        return HostileCall(number, kind, valid.method, content, metadata, seconds)

    def _oversized(self, chance: Random, valid: ValidRequest) -> bytes:
        """One byte more than is received, or many, in a known field or an unknown one."""
        number = chance.choice((99, *(field.number for field in valid.descriptor.fields)))
        padding = b"x" * (self.max_receive_bytes + chance.choice((1, 1, 1_000, 100_000)))
        content = valid.message.SerializeToString(deterministic=True) + delimited(number, padding)
        return content[: self.max_receive_bytes + 1] if chance.random() < 0.3 else content


def _changed(chance: Random, valid: ValidRequest) -> bytes:
    message = type(valid.message)()
    message.CopyFrom(valid.message)
    known = KNOWN_TO_ADMINISTRATION if valid.administration else KNOWN
    MessageMutator(chance, known).mutate(message)
    return message.SerializeToString(deterministic=True)


def odd_metadata(chance: Random, tokens: Sequence[str]) -> Metadata:
    """Metadata that gRPC's own client agrees to send."""
    entries: list[tuple[str, str | bytes]] = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        key = chance.choice(("x-request-id", "traceparent", "tracestate", "authorization", "x-odd", "x-odd-bin"))
        entries += [(key, odd_header(chance, key, tokens))] * chance.choice((1, 1, 1, 2, 30))
    return entries


def odd_header(chance: Random, key: str, tokens: Sequence[str]) -> str | bytes:
    """A value for a key: often one that almost fits it."""
    if key.endswith("-bin"):
        return chance.randbytes(chance.choice((0, 1, 3, 100, 2_000)))
    drawn = chance.random()
    if drawn < 0.2:
        return chance.choice(_ODD_TEXTS)
    if drawn < 0.4:
        return "".join(chr(chance.randrange(0x20, 0x7F)) for _ in range(chance.randrange(1, 200)))
    if key == "traceparent":
        return _spoiled(chance, f"00-{chance.getrandbits(128):032x}-{chance.getrandbits(64):016x}-01")
    if key == "authorization":
        scheme = chance.choice((*("Bearer ",) * 9, "bearer ", "Basic ", "Bearer", "", "Bearer  "))
        return scheme + odd_token(chance, tokens)
    return _spoiled(chance, f"id-{chance.getrandbits(64):x}")


def odd_token(chance: Random, tokens: Sequence[str]) -> str:
    """A token that was changed in its text, its header or its claims, or made up."""
    drawn = chance.random()
    if drawn < 0.4:
        return _spoiled(chance, chance.choice(tokens))
    if drawn < 0.6:
        parts = chance.choice(tokens).split(".")
        parts[chance.randrange(len(parts))] = _segment(chance)
        return ".".join(parts)
    if drawn < 0.8:
        return ".".join(_segment(chance) for _ in range(chance.choice((1, 2, 3, 3, 3, 4, 50))))
    return chance.choice((".", "..", "...", "a.b.c", "=" * 20, "e30.e30.", "bnVsbA.bnVsbA.bnVsbA", "W10.W10.W10"))


def _segment(chance: Random) -> str:
    """JSON that is no header and no claims, or no JSON, in base 64 or nearly so."""
    content: bytes = chance.choice(
        (
            b"{}", b"[]", b"null", b"1e999", b'"text"', b'{"alg":"none"}', b'{"alg":null}', b'{"alg":["RS256"]}',
            b'{"alg":"RS256","kid":{}}', b'{"alg":"HS256","kid":"x"}', b'{"alg":"ES256","kid":"\\ud800"}',
            b'{"alg":"RS256","crit":["b64"],"b64":false}', b'{"exp":"never"}', b'{"exp":1e999,"nbf":NaN}',
            b'{"exp":' + b"9" * 400 + b"}", b"[" * 3_000, b'{"a":' * 1_000, b"\xff\xfe", b"",
            chance.randbytes(chance.randrange(1, 60)),
        )
    )  # fmt: skip
    encoded = base64.urlsafe_b64encode(content).decode()
    return encoded if chance.random() < 0.3 else encoded.rstrip("=")


def _spoiled(chance: Random, text: str) -> str:
    """The text with a part cut, doubled or replaced; as it is in one of four."""
    drawn = chance.randrange(4)
    place = chance.randrange(len(text) + 1)
    if drawn == 0:
        return text[:place]
    if drawn == 1:
        return text[:place] + chr(chance.randrange(0x21, 0x7F)) + text[place + 1 :]
    if drawn == 2:
        return text[:place] + text[place // 2 :]
    return text
