"""The token counter: exact against tiktoken, offline, and steady on hostile texts."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from groundwire.tokens import token_counter
from groundwire.tokens.token_counter import PIECE_LENGTH, VOCABULARIES, TokenCounter, TokenCounterError
from support.growth import check_linear

NAMES = ["o200k_base", "cl100k_base"]


@pytest.fixture(scope="module")
def originals() -> dict[str, tiktoken.Encoding]:
    """tiktoken's own encodings, loaded through its cache from the packaged files."""
    before = dict(os.environ)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(VOCABULARIES)
    try:
        return {name: tiktoken.get_encoding(name) for name in NAMES}
    finally:
        os.environ.clear()
        os.environ.update(before)


def _forget_loaded_encodings() -> None:
    vars(token_counter)["_encoding"].cache_clear()


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> socket.socket:
        raise AssertionError("the token counter opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)


def test_the_default_is_o200k_base() -> None:
    assert TokenCounter().name == "o200k_base"


@pytest.mark.parametrize("name", NAMES)
@given(text=st.text(max_size=400))
def test_counts_are_those_of_tiktoken(name: str, originals: dict[str, tiktoken.Encoding], text: str) -> None:
    assert TokenCounter(name).count(text) == len(originals[name].encode(text, disallowed_special=()))


@pytest.mark.parametrize("name", NAMES)
def test_real_source_counts_as_in_tiktoken(name: str, originals: dict[str, tiktoken.Encoding]) -> None:
    text = Path(token_counter.__file__).read_text(encoding="utf-8")
    assert TokenCounter(name).count(text) == len(originals[name].encode(text, disallowed_special=())) > 500


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("hello world", 2), ("def main():\n    return 0\n", 8)])
def test_known_counts(text: str, expected: int) -> None:
    assert TokenCounter().count(text) == expected


def test_special_markers_are_ordinary_text() -> None:
    assert TokenCounter().count("<|endoftext|>") > 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["a", " ", "\n", "aA", "日", "!", "7", "qzxjkvwp"])
def test_a_megabyte_without_breaks_is_counted_in_a_time_that_grows_with_its_length(name: str, unit: str) -> None:
    check_linear(lambda length: TokenCounter(name).count(unit * (length // len(unit))), 60_000)


def test_a_long_text_is_the_sum_of_its_pieces() -> None:
    counter = TokenCounter()
    text = "one two three " * (PIECE_LENGTH // 5)
    pieces = [text[start : start + PIECE_LENGTH] for start in range(0, len(text), PIECE_LENGTH)]
    assert len(pieces) == 3
    assert counter.count(text) == sum(map(counter.count, pieces))


def test_threads_agree() -> None:
    texts = [f"value_{number} = compute(日本, {number})" * (number % 7 + 1) for number in range(200)]
    counter = TokenCounter()
    expected = list(map(counter.count, texts))
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(counter.count, texts * 5)) == expected * 5


@pytest.mark.usefixtures("_no_network")
def test_loading_needs_no_network_and_leaves_the_environment_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    _forget_loaded_encodings()
    assert TokenCounter("cl100k_base").count("hello world") == 2
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(TokenCounterError, match=r"'p50k_base'.*cl100k_base, o200k_base"):
        TokenCounter("p50k_base")


@pytest.mark.usefixtures("_no_network")
def test_a_missing_or_damaged_vocabulary_is_refused_and_left_in_place(tmp_path: Path) -> None:
    with pytest.raises(TokenCounterError, match=r"cannot be read.*reinstall groundwire"):
        TokenCounter(vocabularies=tmp_path)
    damaged = tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790"
    damaged.write_bytes(b"IQ== 0\n")
    with pytest.raises(TokenCounterError, match=r"is damaged.*reinstall groundwire"):
        TokenCounter(vocabularies=tmp_path)
    assert damaged.read_bytes() == b"IQ== 0\n"


def test_the_fingerprint_names_encoding_and_vocabulary() -> None:
    fingerprints = {TokenCounter(name).fingerprint for name in NAMES}
    assert len(fingerprints) == 2
    assert all(fingerprint.startswith(("o200k_base:446a", "cl100k_base:2239")) for fingerprint in fingerprints)
