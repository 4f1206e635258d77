"""Names: how they are compared, which a node has, which a query mentions, and their trigrams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.text.trigram_names import (
    MAX_NAME_LENGTH,
    MAX_QUERY_NAMES,
    node_names,
    normalised_name,
    query_names,
    trigrams,
)

anything = st.text(max_size=30)


@pytest.mark.parametrize(
    "spelling",
    ["getUserById", "get_user_by_id", "GET-USER-BY-ID", "get user by id", "get.user::by#id", "\uff47etUserById"],
)
def test_spellings_of_one_name_are_one(spelling: str) -> None:
    assert normalised_name(spelling) == "getuserbyid"


@given(text=anything)
def test_a_normalised_name_holds_letters_and_digits_alone(text: str) -> None:
    name = normalised_name(text)
    assert all(character.isalnum() for character in name)
    assert name == normalised_name(f"({text}) ")


def test_of_a_long_name_the_end_counts() -> None:
    assert normalised_name("x" * 300 + "/file.py") == "x" * (MAX_NAME_LENGTH - 6) + "filepy"


@pytest.mark.parametrize(
    ("symbol", "path", "expected"),
    [
        pytest.param("Shop.Invoices.Create", "src/Invoices.cs",
                     ("create", "shopinvoicescreate", "invoicescs", "srcinvoicescs"), id="all"),
        pytest.param("main", "main.py", ("main", "mainpy"), id="distinct"),
        pytest.param("std::vector::push_back", "", ("pushback", "stdvectorpushback"), id="C++"),
        pytest.param("json/decoder.py#JSONDecoder.decode", "", ("decode", "jsondecoderpyjsondecoderdecode"), id="id"),
        pytest.param("a->b", "", ("b", "ab"), id="arrow"),
        pytest.param("Shop.Add(System.Int32)", "", ("add", "shopaddsystemint32"), id="parameters"),
        pytest.param("Guide > Set up", "", ("setup", "guidesetup"), id="headings"),
        pytest.param("web.yaml", "k8s\\web.yaml", ("webyaml", "k8swebyaml"), id="file"),
        pytest.param("", "src/a.unknown", ("aunknown", "srcaunknown"), id="unknown suffix"),
        pytest.param("Foo.", "", ("foo",), id="nothing after the separator"),
        pytest.param("...", "/", (), id="no letters"),
    ],
)  # fmt: skip
def test_the_names_of_a_node(symbol: str, path: str, expected: tuple[str, ...]) -> None:
    assert node_names(symbol, path) == expected


@given(symbol=anything, path=anything)
def test_a_nodes_names_are_distinct_and_not_empty(symbol: str, path: str) -> None:
    names = node_names(symbol, path)
    assert len(set(names)) == len(names) <= 4
    assert "" not in names
    assert {normalised_name(symbol), normalised_name(path)} - {""} <= set(names)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("GetUsrById", ("getusrbyid",), id="inner capital"),
        pytest.param("where is get_user used in the tests", ("getuser",), id="underscore"),
        pytest.param("what does JSONDecoder.decode do?", ("jsondecoderdecode", "decode"), id="qualified"),
        pytest.param("who calls std::sort over there", ("stdsort", "sort"), id="C++"),
        pytest.param("who calls `open()` in this module?", ("open",), id="call"),
        pytest.param('find ("src/Big-Bill/Invoice.cs"), please', ("srcbigbillinvoicecs", "invoicecs"), id="path"),
        pytest.param("where do we read config.json from disk", ("configjson",), id="file"),
        pytest.param("decoder.py#JSONDecoder it is", ("decoderpyjsondecoder", "jsondecoder"), id="id"),
        pytest.param("the cost of sha256 per byte, really", ("sha256",), id="digit"),
        pytest.param("get user by id", ("getuserbyid",), id="four words"),
        pytest.param("invoice", ("invoice",), id="one word"),
        pytest.param("how do I get a user", (), id="prose"),
        pytest.param("the well-known SQL and HTTP, e.g. 3.11", (), id="prose with dashes, acronyms, numbers"),
        pytest.param("??? ...", (), id="no words"),
        pytest.param("", (), id="empty"),
    ],
)
def test_the_names_of_a_query(query: str, expected: tuple[str, ...]) -> None:
    assert query_names(query) == expected


@given(query=st.text(alphabet="aBé1_./:# ()-", max_size=400))
def test_a_querys_names_are_few_distinct_and_its_own(query: str) -> None:
    names = query_names(query)
    assert len(set(names)) == len(names) <= MAX_QUERY_NAMES
    for name in names:
        assert 0 < len(name) <= MAX_NAME_LENGTH
        assert name in "".join(normalised_name(character) for character in query)


def test_many_names_are_cut_to_the_first() -> None:
    names = query_names(" ".join(f"get_user{number}" for number in range(99)))
    assert names == tuple(f"getuser{number}" for number in range(MAX_QUERY_NAMES))


def test_the_trigrams_of_postgresqls_manual() -> None:
    assert trigrams("cat") == {"  c", " ca", "cat", "at "}


@given(name=st.text(alphabet="abé1", max_size=12))
def test_trigrams_are_all_runs_of_three_of_the_padded_name(name: str) -> None:
    runs = zip("  " + name, " " + name + " ", name + " ", strict=False)
    assert trigrams(name) == ({"".join(run) for run in runs} if name else set())
