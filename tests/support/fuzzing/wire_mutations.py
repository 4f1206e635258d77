"""Mutations of encoded messages: what no library writes."""

from collections.abc import Callable, Sequence
from random import Random

from google.protobuf.descriptor import Descriptor, FieldDescriptor

VARINT, FIXED64, LENGTH, GROUP_START, GROUP_END, FIXED32 = 0, 1, 2, 3, 4, 5
INVALID_UTF8 = (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"a\x80b", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf8\x88\x80")
BAD_VARINTS = (b"\xff" * 9 + b"\x01", b"\xff" * 10, b"\x80" * 11 + b"\x00", b"\x80", b"\xff" * 5 + b"\x0f")
DEPTHS = (5, 50, 99, 100, 101, 150, 2_000)
_FIELD_NUMBERS = (0, 1, 2, 5, 15, 16, 99, 18_999, 19_000, 2**29 - 1, 2**29, 2**32)
_LENGTHS = (0, 1, 5, 127, 128, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    written = bytearray()
    while number > 0x7F:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def tag(number: int, wire_type: int) -> bytes:
    """The head of a field."""
    return varint(number << 3 | wire_type)


def delimited(number: int, content: bytes) -> bytes:
    """A field with a length."""
    return tag(number, LENGTH) + varint(len(content)) + content


class WireMutator:
    """Changes an encoded request of a type."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._mutations: tuple[Callable[[bytes, Descriptor], bytes], ...] = (
            self._truncated,
            self._flipped,
            self._replaced,
            self._repeated,
            self._without_part,
            self._with_noise,
            self._with_unknown_field,
            self._with_wrong_type,
            self._with_bad_varint,
            self._with_invalid_text,
            self._with_group,
            self._with_wrong_length,
            self._with_depth,
            self._with_field_zero,
        )

    def mutate(self, content: bytes, descriptor: Descriptor) -> bytes:
        """One mutation, seldom several; one in a hundred has no more to do with the request."""
        if self._chance.random() < 0.01:
            return self._chance.randbytes(self._chance.choice((0, 1, 2, 20, 500)))
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            content = self._chance.choice(self._mutations)(content, descriptor)
        return content

    def _cut(self, content: bytes) -> int:
        return self._chance.randrange(len(content) + 1)

    def _truncated(self, content: bytes, _: Descriptor) -> bytes:
        return content[: self._cut(content)]

    def _flipped(self, content: bytes, _: Descriptor) -> bytes:
        changed = bytearray(content)
        for _bit in range(self._chance.choice((1, 1, 2, 8)) if content else 0):
            changed[self._chance.randrange(len(changed))] ^= 1 << self._chance.randrange(8)
        return bytes(changed)

    def _replaced(self, content: bytes, _: Descriptor) -> bytes:
        start = self._cut(content)
        noise = self._chance.randbytes(self._chance.randrange(1, 9))
        return content[:start] + noise + content[start + len(noise) :]

    def _repeated(self, content: bytes, _: Descriptor) -> bytes:
        if self._chance.random() < 0.3:
            return content * self._chance.choice((2, 3, 40))
        start, end = sorted((self._cut(content), self._cut(content)))
        return content[:end] + content[start:end] * self._chance.choice((1, 2, 20)) + content[end:]

    def _without_part(self, content: bytes, _: Descriptor) -> bytes:
        start, end = sorted((self._cut(content), self._cut(content)))
        return content[:start] + content[end:]

    def _with_noise(self, content: bytes, _: Descriptor) -> bytes:
        start = self._cut(content)
        return content[:start] + self._chance.randbytes(self._chance.randrange(1, 30)) + content[start:]

    def _with_unknown_field(self, content: bytes, _: Descriptor) -> bytes:
        number = self._chance.choice(_FIELD_NUMBERS)
        return self._joined(content, self._field_of_type(number, self._chance.randrange(8)))

    def _with_wrong_type(self, content: bytes, descriptor: Descriptor) -> bytes:
        """A known field, here or one message below, as any wire type."""
        path, field = self._somewhere(descriptor)
        return self._joined(content, _wrapped(path, self._field_of_type(field.number, self._chance.randrange(8))))

    def _with_bad_varint(self, content: bytes, descriptor: Descriptor) -> bytes:
        path, field = self._somewhere(descriptor)
        return self._joined(content, _wrapped(path, tag(field.number, VARINT) + self._chance.choice(BAD_VARINTS)))

    def _with_invalid_text(self, content: bytes, descriptor: Descriptor) -> bytes:
        path, field = self._somewhere(descriptor)
        return self._joined(content, _wrapped(path, delimited(field.number, self._chance.choice(INVALID_UTF8))))

    def _with_group(self, content: bytes, descriptor: Descriptor) -> bytes:
        """A group that ends, never ends, ends twice or ends as another; deep now and then."""
        number = self._chance.choice((*_FIELD_NUMBERS[1:], *(field.number for field in descriptor.fields)))
        start, end, other = tag(number, GROUP_START), tag(number, GROUP_END), tag(number + 1, GROUP_END)
        depth = self._chance.choice(DEPTHS)
        groups = (start + end, start, end, start + end + end, start + other, start * depth, start * depth + end * depth)
        return self._joined(content, self._chance.choice(groups))

    def _with_wrong_length(self, content: bytes, descriptor: Descriptor) -> bytes:
        path, field = self._somewhere(descriptor)
        lie = tag(field.number, LENGTH) + varint(self._chance.choice(_LENGTHS)) + b"short"
        return self._joined(content, _wrapped(path, lie))

    def _with_depth(self, content: bytes, descriptor: Descriptor) -> bytes:
        """A message field that holds itself, or metadata of objects or lists, deeper than any parser follows."""
        depth = self._chance.choice(DEPTHS)
        filters = [field for field in descriptor.fields if field.name == "filter"]
        if not filters or self._chance.random() < 0.3:
            number = self._chance.choice([field.number for field in descriptor.fields])
            return self._joined(content, _wrapped([number] * depth, b""))
        level = self._chance.choice(((5, 1, 2), (6, 1)))  # Value.struct_value.fields[].value; Value.list_value.values
        value = _wrapped(level * depth, b"\x1a\x01x")
        return self._joined(content, _wrapped([filters[0].number, 14, 1], delimited(1, b"deep") + delimited(2, value)))

    def _with_field_zero(self, content: bytes, _: Descriptor) -> bytes:
        return self._joined(content, self._chance.choice((b"\0", b"\0\0", b"\x02\x00", b"\x07", b"\x06\x01")))

    def _joined(self, content: bytes, more: bytes) -> bytes:
        return content + more if self._chance.random() < 0.7 else more + content

    def _somewhere(self, descriptor: Descriptor) -> tuple[list[int], FieldDescriptor]:
        """A field and the numbers of the messages around it."""
        path: list[int] = []
        field = self._chance.choice(descriptor.fields)
        while field.message_type is not None and self._chance.random() < 0.8:
            path.append(field.number)
            field = self._chance.choice(field.message_type.fields)
        return path, field

    def _field_of_type(self, number: int, wire_type: int) -> bytes:
        contents = {
            VARINT: varint(self._chance.getrandbits(self._chance.choice((1, 7, 32, 64)))),
            FIXED64: self._chance.randbytes(8),
            LENGTH: varint(6) + b"a string"[:6],
            GROUP_START: tag(number, GROUP_END),
            FIXED32: self._chance.randbytes(4),
        }
        return tag(number, wire_type) + contents.get(wire_type, b"")


def _wrapped(path: Sequence[int], content: bytes) -> bytes:
    for number in reversed(path):
        content = delimited(number, content)
    return content
