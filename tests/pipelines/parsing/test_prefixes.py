from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.prefixes import (
    ANSWER_PREFIX,
    REQUEST_PREFIX,
    ROUTER_PREFIXES,
    AnswerReply,
    AnswerStream,
    RouterChoice,
    parse_answer_reply,
    parse_router_choice,
    without_markers,
)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("[SEMANTIC:] computes VAT", RouterChoice("semantic", "computes VAT")),
        ("[SEMANTIC_RERANK:] computes VAT", RouterChoice("semantic_rerank", "computes VAT")),
        ("[BM25:] VatService Compute", RouterChoice("bm25", "VatService Compute")),
        ("[HYBRID:]VatService", RouterChoice("hybrid", "VatService")),
        ("[DIRECT:] what is VAT?", RouterChoice("direct", "what is VAT?")),
        ("[DIRECT:]", RouterChoice("direct", "")),
        ("\n  [BM25:]  vat \n\n", RouterChoice("bm25", "vat")),
        ("[BM25:] a [Answer:] of [0]", RouterChoice("bm25", "a [Answer:] of [0]")),
    ],
)
def test_a_router_chooses(text: str, choice: RouterChoice) -> None:
    assert parse_router_choice(text) == choice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must start with one of"),
        ("computes VAT", "must start with one of"),
        ("Sure: [BM25:] vat", "must start with one of"),
        ("[bm25:] vat", "must start with one of"),
        ("[BM25] vat", "must start with one of"),
        ("BM25: vat", "must start with one of"),
        ("**[BM25:]** vat", "must start with one of"),
        ("[Answer:] vat", "must start with one of"),
        ("[BM25:] vat\n[HYBRID:] vat", "exactly one line"),
        ("[BM25:]\nvat", "exactly one line"),
        ("[BM25:] vat\u2028tax", "exactly one line"),
        ("[BM25:] vat [HYBRID:] vat", "exactly one prefix"),
        ("[BM25:] [BM25:] vat", "exactly one prefix"),
        ("[SEMANTIC:]  ", r"a query must follow \[SEMANTIC:\]"),
    ],
)
def test_a_malformed_router_is_refused(text: str, message: str) -> None:
    with pytest.raises(StepError, match=message) as caught:
        parse_router_choice(text)
    assert caught.value.rule == "prefix-malformed"


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("[Answer:] It is a tax.", AnswerReply(True, "It is a tax.")),
        ("\n[Answer:]\nA.\n\nB.\n", AnswerReply(True, "A.\n\nB.")),
        ("[Answer:] the marker [Requesting data on:] asks", AnswerReply(True, "the marker [Requesting data on:] asks")),
        ("[Requesting data on:] VatService", AnswerReply(False, "VatService")),
        (
            "[Answer:] The markers:\n```\n[Answer:] yes\n[Requesting data on:] more\n```\nare read.",
            AnswerReply(True, "The markers:\n```\n[Answer:] yes\n[Requesting data on:] more\n```\nare read."),
        ),
    ],
)
def test_an_answer_is_final_or_asks(text: str, reply: AnswerReply) -> None:
    assert parse_answer_reply(text) == reply


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("It is a tax.", "must start with"),
        ("[answer:] It is a tax.", "must start with"),
        ("[Answer] It is a tax.", "must start with"),
        ("Here: [Answer:] It is a tax.", "must start with"),
        ("[SEMANTIC:] tax", "must start with"),
        ("[Answer:]  ", r"a text must follow \[Answer:\]"),
        ("[Requesting data on:]", r"a text must follow \[Requesting data on:\]"),
        ("[Answer:] A.\n  [Requesting data on:] B", "exactly one prefix"),
        ("[Requesting data on:] B\n[Answer:] A.", "exactly one prefix"),
        ("[Answer:] [Answer:] A.", "exactly one prefix"),
        ("[Answer:] A.\n```\ncode\n```\n[Answer:] B.", "exactly one prefix"),
    ],
)
def test_a_malformed_answer_is_refused(text: str, message: str) -> None:
    with pytest.raises(StepError, match=message) as caught:
        parse_answer_reply(text)
    assert caught.value.rule == "prefix-malformed"


@pytest.mark.parametrize("parse", [parse_router_choice, parse_answer_reply])
def test_messages_do_not_quote_what_is_refused(parse: Callable[[str], object]) -> None:
    with pytest.raises(StepError) as caught:
        parse("a secret")
    assert "secret" not in caught.value.message


@given(st.text())
def test_text_without_a_prefix_is_refused(text: str) -> None:
    assume(not text.strip().startswith((*ROUTER_PREFIXES.values(), ANSWER_PREFIX, REQUEST_PREFIX)))
    for parse in (parse_router_choice, parse_answer_reply):
        with pytest.raises(StepError) as caught:
            parse(text)
        assert caught.value.rule == "prefix-malformed"


def streamed(pieces: list[str]) -> str:
    parts: list[str] = []
    stream = AnswerStream(parts.append)
    for piece in pieces:
        stream.feed(piece)
    return "".join(parts)


@given(st.lists(st.integers(0, 60)), st.sampled_from(["[Answer:] It is\na tax.", " \n[Answer:]\n\nA [Answer:] of"]))
def test_an_answer_is_streamed_without_its_prefix_however_it_is_cut(cuts: list[int], text: str) -> None:
    places = [0, *sorted(cuts), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]
    assert streamed(pieces) == parse_answer_reply(text).text


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_reasoning_before_the_prefix_is_not_streamed(size: int) -> None:
    text = "<think>[Answer:] no\n[Requesting data on:] no</think>\n\n[Answer:] It is </think> a tax."
    assert streamed([text[start : start + size] for start in range(0, len(text), size)]) == "It is </think> a tax."


@pytest.mark.parametrize(
    "text",
    [
        "<think>[Answer:] no",
        "Hm.\n</think>\n[Answer:] no",
        "[Requesting data on:] [Answer:] no",
        "It is a tax. [Answer:] no",
        "[Answer",
        "[Answer:]  ",
        "",
    ],
)
def test_what_is_no_final_answer_is_never_streamed(text: str) -> None:
    assert streamed(list(text)) == ""


@pytest.mark.parametrize(
    ("text", "without"),
    [("[Answer:] To podatek.", "To podatek."), ("[HYBRID:] [Answer:]\nA [Answer:] B", "A [Answer:] B"), (" a ", "a")],
)
def test_markers_before_a_text_without_a_protocol_are_removed(text: str, without: str) -> None:
    assert without_markers(text) == without
