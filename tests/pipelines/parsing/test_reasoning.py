import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_pipelines.parsing.prefixes import ReasoningFilter, without_reasoning
from support.growth import check_linear


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>Hm.</think>A tax.", "A tax."),
        ("\n <think>\nHm.\n</think>\n\nA tax.", "\n\nA tax."),
        ("<thinking>Hm, </think> is no end.</thinking>A tax.", "A tax."),
        ("<think>One.</think>\n<think>Two.</think>A tax.", "A tax."),
        ("<think>Hm, without an end", ""),
        ("Hm, without a beginning.\n</think>\nA tax.", "\nA tax."),
        ("A tax.", "A tax."),
        ("", ""),
        ("A model writes `<think>Hm.</think>` first.", "A model writes `<think>Hm.</think>` first."),
        ("It looks for `</think>` there.", "It looks for `</think>` there."),
        ("```\n<think>\nHm.\n</think>\n```", "```\n<think>\nHm.\n</think>\n```"),
        ("<think>Hm.</think>Then\n</think>\nends it.", "Then\n</think>\nends it."),
        ("<thinker>A tax.", "<thinker>A tax."),
    ],
)
def test_reasoning_at_the_start_is_no_part_of_an_answer(text: str, answer: str) -> None:
    assert without_reasoning(text) == answer


def streamed(pieces: list[str]) -> str:
    reasoning = ReasoningFilter()
    return "".join(map(reasoning.feed, pieces))


@given(st.lists(st.sampled_from(["<think>", "</think>", "<thinking>", "</thinking>", "<th", "ink>", "a", "\n", " "])))
def test_a_stream_leaves_out_the_same_where_the_opening_tag_is_there(pieces: list[str]) -> None:
    # A sign at the end, because a stream cannot know that what may be a tag's beginning is all there is.
    text = "<think>" + "".join(pieces) + "!"
    assert streamed(["<think>", *pieces, "!"]).strip() == without_reasoning(text).strip()
    assert streamed(list(text)) == streamed([text])


@pytest.mark.parametrize("unit", ["<think></think>", "<think>", " ", "</think>x"])
def test_long_texts_take_no_longer_than_their_length(unit: str) -> None:
    def read(length: int) -> None:
        text = unit * (length // len(unit))
        without_reasoning(text)
        streamed([text[start : start + 5] for start in range(0, len(text), 5)])

    check_linear(read, 30_000)
