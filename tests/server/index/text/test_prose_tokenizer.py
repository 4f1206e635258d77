"""The prose tokeniser: its rules by example, and what must hold of any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_index.text.identifiers import MAX_IDENTIFIER_LENGTH, MAX_TOKEN_LENGTH, STOP_WORDS
from groundwire_index.text.prose_tokenizer import PROSE_TOKENIZER_FINGERPRINT, stems, tokenize_prose
from support import programs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", ["get", "user", "id"]),
        ("get_user_by_id", ["get", "user", "id"]),
        ("get the user by its id", ["get", "user", "id"]),
        ("XMLHttpRequest userIDs", ["xml", "http", "request", "user", "id"]),
        ("sha256 utf8 C0001", ["sha", "256", "utf", "0001"]),
        ("step 7 of 42, variable x", ["step", "42", "variabl"]),
        ("The tokens of a user's request don't expire", ["token", "user", "request", "expir"]),
        ("searching SEARCHED searches", ["search", "search", "search"]),
        ("straße Größe", ["strass", "gross"]),
        ("第一章", ["第一", "一章"]),
        ("get库存Count", ["get", "库存", "count"]),
        ("café", ["cafe"]),
        ("_ __ ...", []),
        ("", []),
    ],
)
def test_the_rules_by_example(text: str, expected: list[str]) -> None:
    assert tokenize_prose(text) == expected


@given(text=st.text(max_size=200))
def test_tokens_are_bounded_stemmed_words_of_the_text(text: str) -> None:
    tokens = tokenize_prose(text)
    assert all(0 < len(token) <= MAX_TOKEN_LENGTH for token in tokens)
    assert "_" not in "".join(tokens)
    remaining = iter(stems(text))
    assert all(token in remaining for token in tokens), "not in the order of the text"


@given(words=st.lists(st.text(alphabet="abcdefgxyz", min_size=2, max_size=8), min_size=2, max_size=4))
def test_a_compound_is_its_words_in_any_style(words: list[str]) -> None:
    apart = tokenize_prose(" ".join(words))
    assert tokenize_prose("_".join(words)) == apart
    assert tokenize_prose(words[0] + "".join(word.capitalize() for word in words[1:])) == apart


def test_data_is_dropped_and_long_words_are_cut() -> None:
    assert tokenize_prose("ahead " + "ab" * MAX_IDENTIFIER_LENGTH + " behind") == ["ahead", "behind"]
    assert tokenize_prose("x" * 90) == ["x" * MAX_TOKEN_LENGTH]


def test_stop_words_are_dropped_from_tokens_and_kept_among_stems() -> None:
    assert tokenize_prose(" ".join(sorted(STOP_WORDS))) == []
    assert stems("Why is the HTTPServer a Failing x_1?") == [
        "whi",
        "is",
        "the",
        "http",
        "server",
        "a",
        "fail",
        "x",
        "1",
    ]


def test_the_two_tokenisers_have_fingerprints_of_their_own() -> None:
    assert PROSE_TOKENIZER_FINGERPRINT != TOKENIZER_FINGERPRINT
    assert tokenize_prose("getUser") != tokenize("getUser")


def test_the_hash_seed_changes_nothing() -> None:
    text = "parseURLsNow of running C0001 ÉcoleNormale"
    outputs = {programs.output("tokens", "prose", text, options="-X utf8", PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(outputs) == 1
