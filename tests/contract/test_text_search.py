"""SearchText finds the lines that Python's `re` finds in the files that the caller may see, and no others."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.v1 import retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import LIFECYCLE_ALL, AccessContext, IndexScope, NodeFilter
from groundwire_index.nodes.node import NodeAccess
from groundwire_index.scope import Scope
from groundwire_ingest.tree.access_rules import AccessRule
from groundwire_ingest.tree.source import TreeSource
from support.refusals import DENIED, INVALID, NOT_FOUND, Row, check_refused, with_fields
from support.storage import NewStorage, Storage

SCOPE = IndexScope(repository="lines", branch="main")
FINANCE = AccessContext(acl_tags_any=["finance"])

FILES: Mapping[str, str] = {
    "README.md": "# Shop\n\nSells things. See `Tax.Rate`.\n\n## Tax\n\nRates of tax are in `src/Tax.cs`.\n",
    "db/schema.sql": "-- all tables\nCREATE TABLE orders (id int, tax int);\n\nCREATE TABLE rates (rate int);\n",
    "secret/Margin.cs": "namespace Shop;\n\nclass Margin\n{\n    int Rate() => 42; // tax\n}\n",
    "src/Tax.cs": (
        "using System;\r\n\r\nnamespace Shop;\r\n\r\n// above the class: tax\r\npublic class Tax\r\n{\r\n"
        "    private readonly int tax_rate = 19;\r\n\r\n    public int Rate(int länge) => länge * tax_rate;\r\n\r\n"
        "    // between tax and tax\r\n\r\n    public int Total(int net)\r\n    {\r\n"
        "        return net + Rate(net);\r\n"
        "    }\r\n}\r\n"
    ),
    "src/Counter.razor": "@code {\n    // what is taxed\n    private int tax = 1;\n\n    void Add() => tax++;\n}\n",
    "src/app.py": "import os\n\nTAX = 19\n\n\ndef rate(net):\n    return net * TAX\n\n\n# the end: tax",
    "src/many.txt": "".join(
        f"a line{' of tax' if number % 97 == 0 else ''} in a file of many: {'words ' * 12}\n" for number in range(500)
    ),
    "src/wide.txt": f"short\n{'x' * 700} tax {'y' * 700}\n",
}
"""A tree with lines between nodes, two kinds of line ends, a long line, no line end at the end, and a large file."""
HIDDEN = "secret/Margin.cs"


@dataclass(frozen=True)
class Expected:
    """A line as the oracle finds it."""

    path: str
    line: int
    column: int
    length: int


def oracle(pattern: str, paths: list[str], flags: re.RegexFlag = re.NOFLAG) -> list[Expected]:
    """The matching lines of the files, each line searched by itself."""
    expected = []
    for path in sorted(paths):
        lines = FILES[path].replace("\r\n", "\n").removesuffix("\n").split("\n")
        for number, line in enumerate(lines, start=1):
            match = re.search(pattern, line, flags)
            if match is not None:
                expected.append(Expected(path, number, match.start() + 1, match.end() - match.start()))
    return expected


@pytest.fixture(scope="module", params=["embedded", pytest.param("milvus", marks=pytest.mark.slow)])
def lines(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[retrieval_pb2_grpc.RetrievalServiceStub]:
    new_storage: NewStorage = request.getfixturevalue("storage_in_milvus") if request.param == "milvus" else Storage
    folder = tmp_path_factory.mktemp("lines")
    for path, text in FILES.items():
        (folder / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tree" / path).write_bytes(text.encode())
    storage = new_storage(folder / "data")
    rule = AccessRule("secret/", NodeAccess(acl_tags=("finance",)))
    storage.build(TreeSource(folder / "tree", access=[rule]), Scope("lines", "main", "v1"))
    (folder / "other").mkdir()
    (folder / "other" / "a.py").write_text("tax = 7\n")
    storage.build(TreeSource(folder / "other"), Scope("more", "main", "v1"))
    with storage.server("--embedder", "none") as server, grpc.insecure_channel(server.address) as channel:
        yield retrieval_pb2_grpc.RetrievalServiceStub(channel)


def request(pattern: str = "tax", **fields: object) -> retrieval_pb2.SearchTextRequest:
    return with_fields(
        retrieval_pb2.SearchTextRequest(scope=SCOPE, access=FINANCE, pattern=pattern, max_matches=1_000), fields
    )


def search(
    lines: retrieval_pb2_grpc.RetrievalServiceStub, pattern: str, **fields: object
) -> retrieval_pb2.SearchTextResponse:
    return lines.SearchText(request(pattern, **fields), timeout=300)


def places(response: retrieval_pb2.SearchTextResponse) -> list[Expected]:
    return [Expected(match.path, match.line, match.column, match.length) for match in response.matches]


def test_every_line_of_every_visible_file_is_searched(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    response = search(lines, "tax")
    assert places(response) == oracle("tax", [*FILES])
    assert response.complete
    assert not response.stopped
    assert response.line_count == len(response.matches)
    assert response.index == "v1"
    counts: dict[str, int] = {}
    for place in oracle("tax", [*FILES]):
        counts[place.path] = counts.get(place.path, 0) + 1
    assert {file.path: file.line_count for file in response.files} == counts
    assert response.file_count == len(counts)


@pytest.mark.parametrize(
    "pattern",
    [r"^$", r"^\s", r"tax$", r"tax\b", r"[Tt]ax.?[Rr]ate", r"int l.nge", r"x{700} tax", r"(a|b)+", r"^.", r"^", r"$",
     r"\w+\(", r"(?i)create table", r"TABLE|tax", r"é|ä"],
)  # fmt: skip
def test_regular_expressions_match_as_in_each_line(
    pattern: str, lines: retrieval_pb2_grpc.RetrievalServiceStub
) -> None:
    assert places(search(lines, pattern, regex=True)) == oracle(pattern, [*FILES], re.ASCII)


@given(data=st.data())
def test_any_part_of_a_line_is_found(data: st.DataObject, lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    path = data.draw(st.sampled_from([*FILES]))
    text = data.draw(st.sampled_from([line for line in FILES[path].replace("\r\n", "\n").split("\n") if line]))
    start = data.draw(st.integers(0, len(text) - 1))
    pattern = text[start : start + data.draw(st.integers(1, 12))]
    visible = data.draw(st.booleans())
    access = FINANCE if visible else AccessContext()
    found_places = places(search(lines, pattern, access=access))
    assert found_places == oracle(re.escape(pattern), [name for name in FILES if visible or name != HIDDEN])


def test_case_and_words(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    ignoring = search(lines, "LÄNGE", ignore_case=True)
    assert places(ignoring) == oracle("LÄNGE", [*FILES], re.IGNORECASE)
    words = search(lines, "rate", whole_words=True)
    assert places(words) == oracle(r"\brate\b", [*FILES])
    literal = search(lines, "Rate(int")
    assert [match.path for match in literal.matches] == ["src/Tax.cs"]


def test_a_match_of_several_lines_counts_as_its_first(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    response = search(lines, r"class Tax\n\{\n.*19", regex=True, multiline=True, context_lines=1)
    (match,) = response.matches
    text = "class Tax\n{\n    private readonly int tax_rate = 19"
    assert (match.path, match.line, match.column, match.length) == ("src/Tax.cs", 6, 8, len(text))
    assert (match.text, [*match.before], [*match.after]) == ("public class Tax", ["// above the class: tax"], [""])
    assert not search(lines, r"class Tax\n\{", regex=True).matches, "lines are searched one by one"
    across = search(lines, r"tax\s+#", regex=True, multiline=True)
    assert not across.matches, "no match goes from one file into the next"


def test_lines_around_a_match_and_the_node_that_holds_it(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    (match,) = search(lines, "return net + Rate", context_lines=2).matches
    assert [*match.before] == ["    public int Total(int net)", "    {"]
    assert [*match.after] == ["    }", "}"]
    assert (match.symbol, match.kind) == ("Shop.Tax.Total", "cs")
    (between,) = search(lines, "between tax").matches
    assert between.symbol.startswith("Shop.Tax")
    (last,) = search(lines, "the end: tax", context_lines=10).matches
    assert [*last.after] == []
    assert last.before[-1] == ""


def test_of_a_long_line_the_part_around_the_match_is_shown(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    (match,) = search(lines, " tax y").matches
    assert (match.column, len(match.text), match.text_column) == (701, 400, 601)
    assert match.text[match.column - match.text_column :].startswith(" tax y")


def test_what_is_returned_is_the_first_lines_and_the_counts_are_of_all(
    lines: retrieval_pb2_grpc.RetrievalServiceStub,
) -> None:
    whole, first = search(lines, "tax"), search(lines, "tax", max_matches=3)
    assert list(first.matches) == list(whole.matches)[:3]
    assert (first.line_count, first.file_count, list(first.files)) == (
        whole.line_count,
        whole.file_count,
        list(whole.files),
    )
    assert (first.complete, whole.complete) == (False, True)
    assert search(lines, "tax", max_matches=3).SerializeToString() == first.SerializeToString()


def test_a_filter_narrows_to_the_lines_of_its_nodes(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    by_path = search(lines, "tax", filter=NodeFilter(path_prefixes=["src/"]))
    assert places(by_path) == oracle("tax", [path for path in FILES if path.startswith("src/")])
    by_language = search(lines, "tax", filter=NodeFilter(languages=["sql"]))
    assert places(by_language) == oracle("tax", ["db/schema.sql"])


def test_hidden_lines_change_nothing(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    response = search(lines, "42", access=AccessContext())
    assert (list(response.matches), list(response.files), response.line_count) == ([], [], 0)
    assert response.complete
    public = search(lines, "Rate", access=AccessContext())
    assert places(public) == oracle("Rate", [path for path in FILES if path != HIDDEN])


def test_several_indexes_are_searched_in_order(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    response = search(lines, "tax", scope=None, scopes=[IndexScope(repository="*", branch="main")])
    assert [match.scope.repository for match in response.matches][-1] == "more"
    assert places(response)[:-1] == oracle("tax", [*FILES])
    assert [scope.repository for scope in response.scopes] == ["lines", "more"]
    assert response.files[-1].scope.repository == "more"


@pytest.mark.parametrize("pattern", [r"\QA\A\E|tax", r"[\]A]\\A|tax", r"(?i-s:tax)", r"(?P<m>tax)"])
def test_what_only_looks_like_an_end_of_all_texts_is_searched(
    pattern: str, lines: retrieval_pb2_grpc.RetrievalServiceStub
) -> None:
    assert places(search(lines, pattern, regex=True))


def test_a_pattern_that_takes_others_minutes_is_linear(lines: retrieval_pb2_grpc.RetrievalServiceStub) -> None:
    assert not search(lines, r"(x+x+)+z", regex=True).matches


REFUSED = [
    Row("no pattern", request(""), INVALID, "FIELD_REQUIRED", "pattern"),
    Row("a long pattern", request("a" * 1_001), INVALID, "VALUE_OUT_OF_RANGE", "pattern"),
    Row("no regular expression", request("a(", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("one only with what is put around it", request("a)(?:b", regex=True, whole_words=True), INVALID,
        "VALUE_MALFORMED", "pattern"),
    Row("lookaround", request("(?<=a)b", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("a huge repetition", request("((a{100}){100}){100}", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("a large pattern", request(r"\pL{1,100}", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("a pattern much too large", request("((a{0,30}){0,30}b)" * 40, regex=True), INVALID, "VALUE_MALFORMED",
        "pattern"),
    Row("many classes of Unicode", request(r"[\pL\PL]" * 16, regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("the beginning of all texts", request(r"[A]\A", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("the end of all texts", request(r"tax\z", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("the ends of all texts", request(r"(?i-m:^tax)", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("single bytes", request(r"tax\C", regex=True), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("a line break", request("a\nb"), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("a NUL", request("a\0b"), INVALID, "VALUE_MALFORMED", "pattern"),
    Row("no matches", request(max_matches=0), INVALID, "FIELD_REQUIRED", "max_matches"),
    Row("too many matches", request(max_matches=1_001), INVALID, "VALUE_OUT_OF_RANGE", "max_matches"),
    Row("too many lines around", request(context_lines=11), INVALID, "VALUE_OUT_OF_RANGE", "context_lines"),
    Row("no scope", request(scope=None), INVALID, "FIELD_REQUIRED", "scope"),
    Row("an absent scope", request(scope=IndexScope(repository="absent", branch="main")), NOT_FOUND,
        "SCOPE_NOT_FOUND"),
    Row("deleted nodes", request(lifecycle=LIFECYCLE_ALL), DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle"),
]  # fmt: skip


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.rule)
def test_what_is_refused(lines: retrieval_pb2_grpc.RetrievalServiceStub, row: Row) -> None:
    check_refused(row, lines.SearchText)
