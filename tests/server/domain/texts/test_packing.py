"""Packing whole texts into a budget: texts are atomic, and a budget is one over all calls for what it pays."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.limits import MAX_TEXT_BYTES, RESPONSE_BYTES
from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.node import Location
from groundwire_server.domain.limits import MAX_BUDGET_TOKENS
from groundwire_server.domain.response_size import ACTION_BYTES, of_link_to, of_skipped, of_text
from groundwire_server.domain.texts.packing import Budget, Packing, pack
from groundwire_server.domain.texts.texts import (
    FetchedText,
    FetchResult,
    RequestedText,
    SkippedNode,
    SkipReason,
    StoredText,
    TextSize,
)
from groundwire_server.rpc.conversions.texts import encode_fetch

AMPLE = 1 << 30

sizes = st.dictionaries(
    st.sampled_from([f"n{number}" for number in range(8)]),
    st.builds(TextSize, tokens=st.integers(0, 20), chars=st.integers(0, 40), bytes=st.integers(0, 300)),
)
requested = st.lists(st.sampled_from([f"n{number}" for number in range(10)]), unique=True, max_size=10).map(
    lambda ids: [RequestedText(id_, depth=1, parent_id="parent") for id_ in ids]
)


def oracle(
    wanted: list[RequestedText],
    available: dict[str, TextSize],
    tokens: int | None,
    chars: int | None,
    room: int = AMPLE,
) -> Packing:
    """The document's scan: in order, take what fits what remains of the budget, skip the rest, go on to the end.

    Of what was taken, that is returned which fits what the response still has room for.
    """
    taken_ids: list[str] = []
    chosen: list[RequestedText] = []
    skipped: list[SkippedNode] = []
    room -= sum(of_skipped(text.id) for text in wanted)
    for text in wanted:
        if text.id not in available:
            skipped.append(SkippedNode(text.id, SkipReason.UNAVAILABLE))
            continue
        taken = [available[id_] for id_ in taken_ids]
        size = available[text.id]
        if (tokens is not None and size.tokens > tokens - sum(other.tokens for other in taken)) or (
            chars is not None and size.chars > chars - sum(other.chars for other in taken)
        ):
            skipped.append(SkippedNode(text.id, SkipReason.OVER_BUDGET))
            continue
        taken_ids.append(text.id)
        entry = of_text(size.bytes, text.id, text.parent_id)
        if entry <= room:
            chosen.append(text)
            room -= entry
        else:
            skipped.append(SkippedNode(text.id, SkipReason.RESPONSE_LIMIT))
    kept_sizes = [available[kept.id] for kept in chosen]
    return Packing(
        tuple(chosen), tuple(skipped), sum(size.tokens for size in kept_sizes), sum(size.chars for size in kept_sizes)
    )


@given(
    wanted=requested,
    available=sizes,
    limit=st.integers(1, 80),
    by_tokens=st.booleans(),
    room=st.just(AMPLE) | st.integers(0, 3_000),
)
def test_packing_equals_the_documents_scan(
    wanted: list[RequestedText], available: dict[str, TextSize], limit: int, by_tokens: bool, room: int
) -> None:
    tokens, chars = (limit, None) if by_tokens else (None, limit)
    packing = pack(wanted, available, Budget(tokens, chars, room))
    assert packing == oracle(wanted, available, tokens, chars, room)
    used = packing.used_tokens if by_tokens else packing.used_chars
    assert used <= limit


@given(wanted=requested, available=sizes, limit=st.integers(1, 80), room=st.integers(700, 3_000))
def test_calls_for_what_did_not_fit_the_response_bring_what_a_larger_one_would_have_held(
    wanted: list[RequestedText], available: dict[str, TextSize], limit: int, room: int
) -> None:
    whole = pack(wanted, available, Budget(limit, None, AMPLE))
    brought: set[str] = set()
    pending, left = list(wanted), limit
    while pending:
        packing = pack(pending, available, Budget(left, None, room))
        assert packing.chosen or packing.skipped
        brought |= {text.id for text in packing.chosen}
        left -= packing.used_tokens
        postponed = {node.id for node in packing.skipped if node.reason is SkipReason.RESPONSE_LIMIT}
        pending = [text for text in pending if text.id in postponed]
    assert brought == {text.id for text in whole.chosen}


def sized(tokens: int) -> TextSize:
    return TextSize(tokens, chars=tokens, bytes=tokens)


def seed(id_: str) -> RequestedText:
    return RequestedText(id_, depth=0, parent_id="", is_seed=True)


@pytest.mark.parametrize("unit", ["tokens", "chars"])
def test_the_scan_goes_on_past_a_misfit_and_fills_the_budget_exactly(unit: str) -> None:
    available = {"a": sized(4), "b": sized(7), "c": sized(6), "d": sized(1)}
    budget = Budget(10, None, AMPLE) if unit == "tokens" else Budget(None, 10, AMPLE)
    packing = pack([seed("a"), seed("b"), seed("c"), seed("d")], available, budget)
    assert [kept.id for kept in packing.chosen] == ["a", "c"]
    assert packing.skipped == (SkippedNode("b", SkipReason.OVER_BUDGET), SkippedNode("d", SkipReason.OVER_BUDGET))
    assert (packing.used_tokens, packing.used_chars) == (10, 10)


def test_an_empty_text_fits_a_budget_that_is_used_up() -> None:
    packing = pack([seed("a"), seed("b")], {"a": sized(3), "b": sized(0)}, Budget(3, None, AMPLE))
    assert [kept.id for kept in packing.chosen] == ["a", "b"]


def test_a_text_beyond_the_response_limit_is_told_apart_from_one_beyond_the_budget() -> None:
    available = {"large": TextSize(1, 1, 5_000), "costly": TextSize(9, 9, 5_000), "small": TextSize(1, 1, 1)}
    packing = pack([seed("large"), seed("costly"), seed("small")], available, Budget(5, None, 1_000))
    assert [kept.id for kept in packing.chosen] == ["small"]
    assert packing.skipped == (
        SkippedNode("large", SkipReason.RESPONSE_LIMIT),
        SkippedNode("costly", SkipReason.OVER_BUDGET),
    )


texts = st.lists(
    st.tuples(
        st.text(max_size=60),  # text
        st.text(max_size=40),  # path
        st.text(max_size=40),  # symbol
        st.text(max_size=40),  # parent
        st.integers(0, 2**31 - 1),  # token count and lines
        st.integers(0, 1_000_000),  # depth
        st.booleans(),  # available
        st.booleans(),  # seed
    ),
    max_size=12,
)


@given(texts=texts, room=st.integers(0, 2_000))
def test_the_encoded_response_stays_within_the_byte_limit(
    texts: list[tuple[str, str, str, str, int, int, bool, bool]], room: int
) -> None:
    wanted: list[RequestedText] = []
    stored: dict[str, StoredText] = {}
    available: dict[str, TextSize] = {}
    for position, (text, path, symbol, parent, number, depth, is_available, is_seed) in enumerate(texts):
        id_ = f"{'ü' * position}{position}"
        wanted.append(RequestedText(id_, depth, parent, is_seed))
        if is_available:
            stored[id_] = StoredText(text, number, Location(path, number, number, "f" * 64), symbol)
            available[id_] = TextSize(0, len(text), len(f"{text}{symbol}{path}{path}".encode()))
    # Validation keeps the ids of a request far below the limit; what remains is room for texts.
    limit = sum(len(wanted_text.id.encode()) + 16 for wanted_text in wanted) + room
    packing = pack(wanted, available, Budget(1 << 31, None, limit))
    fetched = tuple(FetchedText(kept, stored[kept.id]) for kept in packing.chosen)
    encoded = encode_fetch(FetchResult(fetched, packing.skipped, 0, 0, ""))
    assert encoded.ByteSize() <= limit
    assert len(encoded.texts) + len(encoded.skipped) == len(wanted)


def test_no_text_adds_more_to_a_response_than_is_reckoned() -> None:
    """All numbers at their greatest, all strings so long that their lengths take the most bytes they can."""
    id_, parent, path, symbol = "é" * 2_048, "\U0001f600" * 2_048, "p" * 20_000, "s" * 20_000
    stored = StoredText("t" * 2_500_000, 2**31 - 1, Location(path, 2**31 - 1, 2**31 - 1, "f" * 64), symbol)
    requested = RequestedText(id_, 1_000_000, parent)
    fetched = FetchedText(requested, stored), FetchedText(replace(requested, is_seed=True), stored)
    encoded = encode_fetch(FetchResult(fetched, (), 0, 0, ""))
    strings = sum(len(string.encode()) for string in (id_, path, path, symbol, stored.text))
    assert encoded.ByteSize() <= 2 * of_text(strings, id_, parent)


def test_the_longest_text_fits_a_response_with_the_longest_ids_and_the_smallest_unit_of_no_budget() -> None:
    longest = RequestedText("i" * 2_048, depth=1, parent_id="p" * 2_048)
    longest_link = of_link_to("é" * 2_000, LinkTemplate("https://git.example/{path}#L{start_line}"))
    for size, fits in ((MAX_TEXT_BYTES, True), (MAX_TEXT_BYTES + 1, False)):
        available = {longest.id: TextSize(size, size, size + longest_link)}
        budget = Budget(MAX_BUDGET_TOKENS, None, RESPONSE_BYTES - ACTION_BYTES)
        assert bool(pack([longest], available, budget).chosen) is fits


def test_no_skipped_node_adds_more_to_a_response_than_is_reckoned() -> None:
    id_ = "\U0001f600" * 2_048
    for reason in SkipReason:
        encoded = encode_fetch(FetchResult((), (SkippedNode(id_, reason),), 0, 0, ""))
        assert encoded.ByteSize() <= of_skipped(id_)
