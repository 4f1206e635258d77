"""What queries look like: a table of them, and a few rules that hold for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_server.domain.query.query import QueryClass
from groundwire_server.domain.query.query_class import FILE_SUFFIXES, classify
from support.growth import check_linear

EXPECTED: dict[QueryClass, list[str]] = {
    QueryClass.QUOTED: [
        '"connection refused"',
        "'no such table'",
        "`SELECT 1`",
        "``double``",
        '  "padded" ',
        '"one" "two"',
        "\u201ctypographic\u201d",
        "\u2018typographic\u2019",
        "\u201edeutsch\u201c",
        "\u00abfran\u00e7ais\u00bb",
        "\u2039klein\u203a",
        "'don't panic'",
        '"getUserById"',
        '"src/app.py",',
    ],
    QueryClass.PATH: [
        "src/Billing/Invoice.cs",
        "Invoice.cs",
        "INVOICE.CS",
        "src/billing",
        "/health",
        r"C:\Shop\Billing",
        r"Billing\Invoice",
        "./run.sh",
        "../lib/",
        "~/notes/today",
        "/etc/groundwire/config",
        "app.py:42:7",
        "Invoice.cs::Create",
        "json/decoder.py#JSONDecoder.decode",
        "(main.go)",
        "a/b.py c/d.py",
        "\u043f\u0443\u0442\u044c/\u0444\u0430\u0439\u043b.md",
    ],
    QueryClass.IDENTIFIER: [
        "getUserById",
        "InvoiceService",
        "HTTPServer",
        "max_size",
        "__init__",
        "_private",
        "MAX_RETRIES",
        "InvoiceService.Create",
        "os.path.join",
        "std::sort",
        "node->next",
        "Decoder#decode",
        "utf8",
        "sha256",
        "foo()",
        "foo(),",
        "parse",
        "HTTP",
        "auth-service",
        "List<int>",
        "getUserById UserService",
        "foo() bar_baz std::sort",
        "gr\u00f6\u00dfe\u00c4nderung",
        "\u03bc\u03ad\u03b3\u03b5\u03b8\u03bf\u03c2",
    ],
    QueryClass.NATURAL_LANGUAGE: [
        "how do I list files",
        "parse json",
        "parse JSON into a dict",
        "What does the cache do?",
        "don't close the users' files",
        "all URLs and IDs",
        "e.g. this, i.e. that",
        "U.S. law",
        "the 2nd item of a 3d list",
        "python 3.11 release",
        "a read/write lock",
        "print /n twice",
        "client/server and/or peer",
        "24/7/365 support",
        "well-known ports",
        "the end.",
        "x = y + z",
        "a 'b c",
        "\u5982\u4f55\u8bfb\u53d6\u6587\u4ef6",
        "\u5982\u4f55 \u8bfb\u53d6",
        "\u0e2d\u0e48\u0e32\u0e19\u0e44\u0e1f\u0e25\u0e4c",
        "",
        " \t\n",
        "?!",
        "==",
        "_",
        "'",
        '""',
    ],
    QueryClass.MIXED: [
        "how does getUserById work",
        "where is max_size set?",
        "what calls foo() twice",
        "use std::sort on a list",
        "sort with os.path.join please",
        "decode utf8 text",
        "the error 'no such table' in tests",
        'find "connection refused"',
        "explain src/billing/invoice.cs",
        "what does Invoice.cs hold",
        "GET /users/all handler",
        "run ./build twice",
        "docs/how to.md",
        "look in ./src/app",
        "print('done')",
        "Invoice.cs getUserById",
        '"quoted" getUserById',
        "list \u201cquoted\u201d",
    ],
}
ROWS = [(query, query_class) for query_class, queries in EXPECTED.items() for query in queries]


@pytest.mark.parametrize(("query", "expected"), ROWS)
def test_queries_are_classified_by_their_words(query: str, expected: QueryClass) -> None:
    assert classify(query) is expected


@given(st.text(max_size=60) | st.text("aB_1 .:#->()/\\\"'`\u201c\u201d\u00ab", max_size=30))
def test_any_text_has_one_class_whatever_space_surrounds_it(query: str) -> None:
    assert classify(query) is classify(query) is classify(f" {query}\n")


@given(st.lists(st.sampled_from(["sort", "the", "files", "into", "Words"]), min_size=2, max_size=6))
def test_plain_words_are_natural_language_and_a_name_among_them_makes_it_mixed(words: list[str]) -> None:
    assert classify(" ".join(words)) is QueryClass.NATURAL_LANGUAGE
    for position in range(len(words) + 1):
        with_name = [*words[:position], "getUserById", *words[position:]]
        assert classify(" ".join(with_name)) is QueryClass.MIXED


@pytest.mark.parametrize("suffix", sorted(FILE_SUFFIXES))
def test_file_names_are_known_by_their_suffix(suffix: str) -> None:
    assert classify(f"thing.{suffix}") is QueryClass.PATH
    assert classify(f"open thing.{suffix.upper()} now") is QueryClass.MIXED


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "'a",
        '"',
        "a.",
        "a_",
        "\u201c",
        "/",
        "aA",
        "1a",
        "a1",
        "_",
        "a::",
        "\u201e\u201c",
        " ' a",
        "a'",
        "(",
        "().:#",
    ],
)
def test_long_queries_take_no_longer_than_their_length(unit: str) -> None:
    """A scan that starts anew at every character would take minutes."""
    check_linear(lambda length: classify(unit * (length // len(unit))), 12_000)
