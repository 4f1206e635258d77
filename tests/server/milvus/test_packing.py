from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.nodes.node import Location, Node, NodeAccess
from groundwire_milvus import packing

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ACCESS = NodeAccess(tenant_id="t", acl_tags=("a",))


@given(TEXTS, TEXTS)
def test_hexadecimal_keeps_texts_their_prefixes_and_their_order(text: str, other: str) -> None:
    assert packing.unhexed(packing.hexed(text)) == text
    assert packing.hexed(text + other).startswith(packing.hexed(text))
    assert (packing.hexed(text) < packing.hexed(other)) == (text.encode() < other.encode())


@given(st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 2**31 - 1)))
def test_terms_come_back(counts: dict[int, int]) -> None:
    terms = np.asarray(sorted(counts), dtype=np.int64)
    frequencies = np.asarray([counts[term] for term in sorted(counts)], dtype=np.int32)
    unpacked = packing.unpacked_terms(packing.packed_terms(packing.TermCounts(terms, frequencies)))
    np.testing.assert_array_equal(unpacked.terms, terms)
    np.testing.assert_array_equal(unpacked.frequencies, frequencies)


def test_edges_come_back_and_a_full_chunk_fits_a_field() -> None:
    edges = np.zeros(packing.EDGES_A_CHUNK, dtype=packing.EDGE)
    edges["far"] = np.arange(len(edges)) * 2**33
    edges["confidence"] = np.nextafter(np.float32(0), np.float32(1))
    edges["type"] = 7
    packed = packing.packed_edges(edges)
    np.testing.assert_array_equal(packing.unpacked_edges(packed), edges)
    assert len(packed) <= packing.MOST_BYTES


def test_service_edges_come_back() -> None:
    edges = np.zeros(3, dtype=packing.SERVICE_EDGE)
    edges["to_row"] = [1, 2, 3]
    services, unpacked = packing.unpacked_service_edges(packing.packed_service_edges(["auth", "é"], edges))
    assert services == ["auth", "é"]
    np.testing.assert_array_equal(unpacked, edges)


@given(TEXTS, TEXTS)
def test_a_node_comes_back_whole(text: str, word: str) -> None:
    node = Node(
        id="shop::main::cs::a",
        kind="cs",
        local_id="a",
        text=text,
        token_count=3,
        location=Location(word, 1, 2, "0" * 64),
        symbol=word,
        signature=word,
        language=word,
        data_type=word,
        corpus_type=word,
        collection_id=word,
        case_id=word,
        document_id=word,
        document_version_id=word,
        chunk_index=4,
        is_latest=False,
        deleted=True,
        service_name=word,
        repo_name=word,
        section_path=word,
        author=word,
        channel=word,
        timestamp=datetime(1969, 1, 1, 1, 1, 1, 5, tzinfo=UTC),
        source_uri=word,
        context_prefix=word,
        is_test=True,
        is_generated=True,
        access=ACCESS,
        metadata={word: [word, 1, 1.0, None, {"a": True}]},
    )
    packed = packing.packed_label(node), packing.packed_rest(node), packing.packed_text(text)
    assert packing.unpacked_node(*packed, ACCESS, deleted=True) == node
    assert packing.unpacked_label(packed[0]) == (node.id, word, node.location, True, True)


@pytest.mark.parametrize("packed", [packing.packed_text("@3"), packing.packed_names(["@3"]), packing.packed_names([])])
def test_nothing_packed_is_taken_for_spilled(packed: str) -> None:
    assert not packed.startswith(packing.SPILL_MARK)


@pytest.mark.parametrize("text", ["", "a" * packing.MOST_BYTES, "é" * packing.MOST_BYTES, "a" + "\U0001f600" * 40_000])
def test_pieces_are_short_and_together_the_text(text: str) -> None:
    pieces = packing.pieces(text)
    assert "".join(pieces) == text
    assert max(len(piece.encode()) for piece in pieces) <= packing.MOST_BYTES


def test_equal_metadata_has_equal_digests() -> None:
    assert packing.metadata_digest("a", 1) == packing.metadata_digest("a", 1.0)
    assert len({packing.metadata_digest("a", value) for value in (1, "1", True, None, "true")}) == 5


def test_workflows_are_found_whole_and_by_prefix() -> None:
    packed = packing.packed_workflows(["ab", "c"])
    assert f"|{packing.hexed('ab')}|" in packed
    assert f"|{packing.hexed('a')}" in packed
    assert f"|{packing.hexed('b')}" not in packed
    assert packing.packed_workflows([]) == ""
