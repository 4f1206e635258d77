"""Signatures leave out no block in which a literal begins, and most of the others."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.index_errors import IndexDamagedError
from groundwire_index.nodes.source_signatures import (
    BLOCK_BYTES,
    LITERAL_BYTES,
    BlockSignatures,
    open_signatures,
    write_signatures,
)

_WORDS = random.Random(5).choices("Alpha betaK GAMMA delta_s épsilon (zeta) 0123 λόγος".split(), k=20_000)
TEXT = " ".join(f"{word}{number % 977}" for number, word in enumerate(_WORDS)).encode()
"""Text of more blocks than eight, which share a byte."""


@pytest.fixture(scope="module")
def signatures(tmp_path_factory: pytest.TempPathFactory) -> BlockSignatures:
    return signatures_of(TEXT, tmp_path_factory.mktemp("signatures"))


def signatures_of(text: bytes, folder: Path) -> BlockSignatures:
    write_signatures(folder, np.frombuffer(text, dtype=np.uint8))
    return open_signatures(folder, len(text))


@given(start=st.integers(0, len(TEXT) - 1), length=st.integers(3, 2 * LITERAL_BYTES))
def test_a_block_in_which_a_literal_begins_is_not_left_out(
    start: int, length: int, signatures: BlockSignatures
) -> None:
    literal = TEXT[start : start + length]
    for ignore_case, written in ((False, literal), (True, literal), (True, literal.swapcase())):
        blocks = signatures.blocks_with(written, ignore_case=ignore_case)
        assert blocks is None or blocks[start // BLOCK_BYTES]


@pytest.mark.parametrize("place", [0, 7, BLOCK_BYTES - 1, BLOCK_BYTES, 63 * BLOCK_BYTES + 99, 64 * BLOCK_BYTES - 1])
def test_all_blocks_but_that_of_a_rare_literal_are_left_out(place: int, tmp_path: Path) -> None:
    text = bytearray(b"a line of text\n" * (70 * BLOCK_BYTES // 15))
    text[place : place + 12] = b"Rare_Literal"
    signatures = signatures_of(bytes(text), tmp_path)
    blocks = signatures.blocks_with(b"rare_literal", ignore_case=False)
    assert blocks is not None
    first_with_the_end = max(0, place - LITERAL_BYTES) // BLOCK_BYTES
    assert np.flatnonzero(blocks).tolist() == [*range(first_with_the_end, place // BLOCK_BYTES + 1)]


@pytest.mark.parametrize("literal", ["", "a", "ab", "äb", "kKs", "ask", "desk"])
def test_a_literal_without_a_trigram_of_use_leaves_nothing_out(literal: str, signatures: BlockSignatures) -> None:
    is_short = len(literal.encode()) < 3
    assert (signatures.blocks_with(literal.encode(), ignore_case=False) is None) == is_short
    assert signatures.blocks_with(literal.encode(), ignore_case=True) is None


@pytest.mark.parametrize("literal", ["\u212aelvin", "Kelvin", "shop", "\u017fhop"])
def test_letters_with_another_case_outside_of_ascii_do_not_count_in_either_case(literal: str, tmp_path: Path) -> None:
    signatures = signatures_of("the \u212aelvin in the \u017fhop\n".encode(), tmp_path)
    blocks = signatures.blocks_with(literal.encode(), ignore_case=True)
    assert blocks is None or blocks.tolist() == [True]


def test_no_texts_have_no_blocks(tmp_path: Path) -> None:
    blocks = signatures_of(b"", tmp_path).blocks_with(b"abc", ignore_case=False)
    assert blocks is not None
    assert blocks.tolist() == []


def test_a_file_of_another_size_is_damaged(tmp_path: Path) -> None:
    signatures_of(TEXT, tmp_path)
    with pytest.raises(IndexDamagedError, match=r"sources\.signatures\.bin: has \d+ bytes"):
        open_signatures(tmp_path, len(TEXT) + 8 * BLOCK_BYTES)
