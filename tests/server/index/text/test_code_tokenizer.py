"""The BM25 tokeniser: its rules by example, and what must hold of any text."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from groundwire_index.text.identifiers import MAX_IDENTIFIER_LENGTH, MAX_TOKEN_LENGTH, STOP_WORDS
from support import programs
from support.steps import within_steps

WORDS = st.text(alphabet="abcdefgxyz", min_size=2, max_size=8).filter(lambda word: word not in STOP_WORDS)
IDENTIFIERS = st.text(alphabet=st.characters(categories=["Lu", "Ll", "Lo", "Nd"]) | st.just("_"), max_size=40)
SEPARATORS = st.text(alphabet=" \n\t.,:;()[]{}<>+-*/=\"'#|&!?", min_size=1, max_size=3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("get_user_by_id", ["get_user_by_id", "get", "user", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("XMLHttpRequest", ["xmlhttprequest", "xml", "http", "request"]),
        ("userIDs parseURLsNow", ["userids", "user", "id", "parseurlsnow", "pars", "url", "now"]),
        ("HTTP URLs IDs", ["http", "url", "id"]),
        ("utf8 sha256", ["utf8", "utf", "sha256", "sha", "256"]),
        ("C0001", ["c0001", "0001"]),
        ("proc_SearchShipments_BM25", ["proc_searchshipments_bm25", "proc", "search", "shipment", "bm", "25"]),
        ("__init__ _private", ["__init__", "init", "_private", "privat"]),
        ("dbo.Invoice|TABLE", ["dbo", "invoic", "tabl"]),
        ("os.path.join(name)", ["os", "path", "join", "name"]),
        ("The tokens of a user's request don't expire", ["token", "user", "request", "expir"]),
        ("Invoices are not found", ["invoic", "not", "found"]),
        ("ÉcoleNormale straße", ["ecolenormale", "ecol", "normal", "strass"]),
        ("punkt wejścia", ["punkt", "wejscia"]),
        ("第一章", ["第一", "一章"]),
        ("如何取消订单", ["如何", "何取", "取消", "消订", "订单"]),
        ("ログイン", ["ログ", "グイ", "イン"]),
        ("재고를 확인", ["재고", "고를", "확인"]),
        ("get库存Count", ["get", "库存", "count"]),
        ("库", ["库"]),
        ("é й ñ", ["e", "й", "n"]),
        ("_ __ ... ", []),
        ("", []),
    ],
)
def test_the_rules_by_example(text: str, expected: list[str]) -> None:
    assert tokenize(text) == expected


@pytest.mark.parametrize(
    "style", ["get_user_by_id", "GetUserById", "GET_USER_BY_ID", "get-user-by-id", "get.user.by.id"]
)
def test_a_name_is_found_whatever_its_style(style: str) -> None:
    assert set(tokenize("getUserById")) - {"getuserbyid"} <= set(tokenize(f"def {style}(x): pass"))


def test_prose_finds_names() -> None:
    assert set(tokenize("searching shipments")) <= set(tokenize("CREATE PROCEDURE proc_SearchShipments"))


@given(
    before=st.text(max_size=40), between=st.tuples(SEPARATORS, SEPARATORS), name=IDENTIFIERS, after=st.text(max_size=40)
)
def test_a_text_holds_the_tokens_of_every_name_in_it(
    before: str, between: tuple[str, str], name: str, after: str
) -> None:
    assert tokenize(before + between[0] + name + between[1] + after) == [
        *tokenize(before),
        *tokenize(name),
        *tokenize(after),
    ]


@given(words=st.lists(WORDS, min_size=2, max_size=4))
def test_the_parts_of_a_compound_are_its_words_in_any_style(words: list[str]) -> None:
    parts = [token for word in words for token in tokenize(word)]
    snake, camel = "_".join(words), words[0] + "".join(word.capitalize() for word in words[1:])
    assert tokenize(snake) == [snake, *parts]
    assert tokenize(camel) == [camel.lower(), *parts]


@given(text=st.text(max_size=200))
def test_tokens_are_bounded_and_hold_no_space(text: str) -> None:
    tokens = tokenize(text)
    assert tokens == tokenize(text)
    assert all(0 < len(token) <= MAX_TOKEN_LENGTH for token in tokens)
    assert not any(character.isspace() for token in tokens for character in token)


def test_long_tokens_are_cut_and_data_is_dropped() -> None:
    long_name = "test_" + "x" * 90
    assert tokenize(long_name) == [long_name[:MAX_TOKEN_LENGTH], "test", "x" * MAX_TOKEN_LENGTH]
    assert tokenize("ab" * (MAX_IDENTIFIER_LENGTH // 2)) == [("ab" * 32)[:MAX_TOKEN_LENGTH]]
    assert tokenize("ahead " + "ab" * MAX_IDENTIFIER_LENGTH + " behind") == ["ahead", "behind"]


def test_stop_words_are_dropped_in_prose_and_in_names() -> None:
    assert tokenize(" ".join(sorted(STOP_WORDS))) == []
    assert tokenize("is_of_the") == ["is_of_the"]


def test_threads_agree_on_new_words() -> None:
    source = random.Random(7)
    texts = [" ".join("".join(source.choices("aeiounrstl", k=7)) + "ing" for _ in range(50)) for _ in range(200)]
    with ThreadPoolExecutor(16) as pool:
        concurrent = list(pool.map(tokenize, texts))
    assert concurrent == list(map(tokenize, texts))


def test_the_hash_seed_changes_nothing() -> None:
    text = "parseURLsNow of the get_user_by_id running C0001 ÉcoleNormale"
    outputs = {programs.output("tokens", "code", text, options="-X utf8", PYTHONHASHSEED=seed) for seed in ("1", "2")}
    assert len(outputs) == 1
    assert TOKENIZER_FINGERPRINT in outputs.pop()


def test_a_large_text_of_which_no_name_repeats_costs_a_few_steps_a_character() -> None:
    text = " ".join(f"compute_value{number}OfTable" for number in range(40_000))
    assert len(within_steps(10 * len(text), lambda: tokenize(text))) > 150_000
