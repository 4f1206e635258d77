"""Signatures of the blocks of source texts, which tell a search for a literal the blocks that it need not read.

The texts of all files are cut into blocks of BLOCK_BYTES. The signature of a block is a set of SIGNATURE_BITS bits.
Each trigram, three bytes that follow each other, sets the bit that its hash names. A literal can begin in a block only
if the bits of all its trigrams are set there. Capital letters of ASCII count as small ones, for searches in either
case.

The file holds the bits by their numbers, each for all blocks. So a search reads as many stretches of it as the literal
has trigrams.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from groundwire_index.files.durable_files import map_array, write_array

BLOCK_BYTES = 1 << 14
SIGNATURE_BITS = 1 << 13
LITERAL_BYTES = 1 << 8
"""The length of a literal's beginning that counts.

The signature of a block has the trigrams of as many bytes behind it, so that those of a literal at its end are there as
well.
"""

_TRIGRAM_BYTES = 3
COVERED_BYTES = BLOCK_BYTES + LITERAL_BYTES + _TRIGRAM_BYTES - 1
"""The bytes from the beginning of a block that its signature depends on."""

SIGNATURES_FILE = "sources.signatures.bin"
_BLOCKS_A_STEP = 8
"""How many blocks are hashed at once. Eight share a byte; more would not stay in the processor's cache."""
_MULTIPLIER = np.uint32(2_654_435_761)
"""Of multiplicative hashing: 2 to the power of 32, divided by the golden ratio (Knuth, TAOCP 3, section 6.4)."""
_SHIFT = np.uint32(32 - SIGNATURE_BITS.bit_length() + 1)
_ASCII_END = 0x80
_FOLDED_WITH_OTHERS = frozenset(b"ks")
"""The letters that a search in either case also finds as letters outside of ASCII: U+212A and U+017F."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockSignatures:
    """The signatures of all blocks.

    Attributes:
        bits: The bits [SIGNATURE_BITS, blocks / 8], eight blocks a byte, the first one in the highest bit.
        size: The size of the source texts in bytes.
    """

    bits: NDArray[np.uint8]
    size: int

    def blocks_with(self, literal: bytes, *, ignore_case: bool) -> NDArray[np.int64] | None:
        """The numbers of the blocks in which a literal may begin, ascending; None where all have to be read.

        The latter holds for a literal that is too short, or that has no trigram of use in either case.
        """
        numbers = _numbers_of(literal[:LITERAL_BYTES], ignore_case=ignore_case)
        if not len(numbers):
            return None
        packed = np.bitwise_and.reduce(self.bits[numbers], axis=0)
        return np.flatnonzero(np.unpackbits(packed, count=_block_count(self.size)))


def write_signatures(directory: Path, texts: NDArray[np.uint8]) -> None:
    """Writes the signatures of the bytes of source texts."""
    bits = np.zeros((SIGNATURE_BITS, _bytes_a_bit(len(texts))), dtype=np.uint8)
    step_bytes = _BLOCKS_A_STEP * BLOCK_BYTES
    for number, start in enumerate(range(0, len(texts), step_bytes)):
        step = texts[start : start + step_bytes + LITERAL_BYTES + _TRIGRAM_BYTES - 1]
        packed = np.packbits(_signatures(step), axis=0)
        first = number * _BLOCKS_A_STEP // 8
        bits[:, first : first + len(packed)] = packed.T[:, : bits.shape[1] - first]
    write_array(directory / SIGNATURES_FILE, bits)


def open_signatures(directory: Path, size: int) -> BlockSignatures:
    """The signatures of `size` bytes of source texts, mapped. Raises IndexDamagedError."""
    return BlockSignatures(map_array(directory / SIGNATURES_FILE, np.uint8, (SIGNATURE_BITS, _bytes_a_bit(size))), size)


def _signatures(texts: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """The bits [_BLOCKS_A_STEP, SIGNATURE_BITS] of some blocks; `texts` has also the bytes that the last depends on."""
    signatures = np.zeros((_BLOCKS_A_STEP, SIGNATURE_BITS), dtype=np.bool_)
    numbers = _hashed(_trigrams(texts))
    for number, signature in enumerate(signatures):
        start = number * BLOCK_BYTES
        signature[numbers[start : start + BLOCK_BYTES + LITERAL_BYTES]] = True
    return signatures


def _numbers_of(literal: bytes, *, ignore_case: bool) -> NDArray[np.int64]:
    """The numbers of the bits of a literal's trigrams, each once."""
    letters = np.frombuffer(literal, dtype=np.uint8)
    trigrams = _trigrams(letters)
    if ignore_case:
        is_certain = (_folded(letters) < _ASCII_END) & ~np.isin(_folded(letters), list(_FOLDED_WITH_OTHERS))
        trigrams = trigrams[is_certain[:-2] & is_certain[1:-1] & is_certain[2:]]
    return np.unique(_hashed(trigrams))


def _trigrams(texts: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The trigrams that begin at each byte but the last two."""
    letters = _folded(texts).astype(np.uint32)
    trigrams: NDArray[np.uint32] = letters[:-2] | letters[1:-1] << np.uint32(8) | letters[2:] << np.uint32(16)
    return trigrams


def _hashed(trigrams: NDArray[np.uint32]) -> NDArray[np.int64]:
    return (trigrams * _MULTIPLIER >> _SHIFT).astype(np.int64)


def _folded(texts: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The bytes with capital letters of ASCII as small ones."""
    return np.frombuffer(texts.tobytes().lower(), dtype=np.uint8)


def _block_count(size: int) -> int:
    return -(-size // BLOCK_BYTES)


def _bytes_a_bit(size: int) -> int:
    return -(-_block_count(size) // 8)
