import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire_client import NodeFilter
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES
from groundwire_pipelines.parsing.search_query import MAX_QUERY_CHARACTERS, ParsedQuery, query_problem
from groundwire_pipelines.parsing.search_query import parse_jsonish as parse
from groundwire_server.domain.limits import MAX_QUERY_CHARS

NARROW = NodeFilter(service_names=("tax",), repo_names=("shop",), case_ids=("c1",))


@pytest.mark.parametrize(
    ("written", "query"),
    [
        ("where is VAT computed?", "where is VAT computed?"),
        ("  VAT \n", "VAT"),
        ("", ""),
        ('"VAT rules"', "VAT rules"),
        ("'VAT rules'", "VAT rules"),
        ('"VAT" or "tax"', '"VAT" or "tax"'),
        ('"', '"'),
        ("```\nVAT rules\n```", "VAT rules"),
        ("[SEMANTIC] VAT", "[SEMANTIC] VAT"),
        ("get { set; }", "get { set; }"),
        ('{"query": " VAT "}', "VAT"),
        ('```json\n{"query": "VAT"}\n```', "VAT"),
        ("```json {'query': 'VAT',} ```", "VAT"),
        ("{query: VAT}", "VAT"),
        ('{"query": null}', ""),
        ("{}", ""),
    ],
)
def test_reads_the_query(written: str, query: str) -> None:
    assert parse(written) == ParsedQuery(query)


@pytest.mark.parametrize(
    ("written", "narrowed"),
    [
        ('{"query": "q", "filters": {"data_type": "db_code"}}', NodeFilter(data_types=("db_code",))),
        ('{"query": "q", "data_type": "db_code"}', NodeFilter(data_types=("db_code",))),
        ('{"query": "q", "filters": {"languages": ["tsql", "csharp",]}}', NodeFilter(languages=("tsql", "csharp"))),
        ('{"query": "q", "filters": {"Kind": "cs"}}', NodeFilter(kinds=("cs",))),
        ('{"query": "q", "filters": {"document": 12}}', NodeFilter(document_ids=("12",))),
        (
            '{"query": "q", "path": "src/", "filters": {"corpus_type": ["DOC_README"], "collection_id": "c"}}',
            NodeFilter(path_prefixes=("src/",), corpus_types=("DOC_README",), collection_ids=("c",)),
        ),
        ('{"query": "q", "filters": {"language": "", "kind": null, "path": [], "document": [null, ""]}}', NodeFilter()),
        ('{"query": "q", "filters": {"service": "tax", "repo": "shop", "case": "c1"}}', NARROW),
        ('{"query": "q", "filters": {"is_latest": true}}', NodeFilter(is_latest=True)),
        ('{"query": "q", "latest": "False"}', NodeFilter(is_latest=False)),
        ('{"query": "q", "tests": false}', NodeFilter(is_test=False)),
        ('{"query": "q", "is_generated": [true]}', NodeFilter(is_generated=True)),
        ('{"query": "q", "is_latest": null}', NodeFilter()),
        ('{"query": "q", "filters": null}', NodeFilter()),
    ],
)
def test_reads_the_filters(written: str, narrowed: NodeFilter) -> None:
    assert parse(written) == ParsedQuery("q", narrowed)


@pytest.mark.parametrize("name", sorted(CALLER_NAMES))
def test_drops_scope_and_access_and_tells_their_names(name: str) -> None:
    parsed = parse(f'{{"query": "q", "filters": {{"{name.upper()}": {{"any": ["*"]}}}}}}')
    assert parsed == ParsedQuery("q", NodeFilter(), (name,))


def test_no_name_of_a_filter_is_one_of_scope_or_access() -> None:
    assert not CALLER_NAMES & FILTER_NAMES.keys()


@pytest.mark.parametrize(
    "written",
    [
        '{"query": ',
        '{"query": "vat", "filters": {"language": "sql"}',
        '{"query": "vat"} in the service',
        "{ get; set; }",
        "{{ url_for }} in template",
        "{% for item in items %}",
        '{"query": ["a"]}',
        '{"query": {"text": "a"}}',
    ],
)
def test_what_only_begins_like_an_object_is_a_query(written: str) -> None:
    assert parse(written) == ParsedQuery(written.strip())


KNOWN = "is unknown; those of a query are kinds, data_types, corpus_types, languages, path_prefixes, collection_ids,"


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ('"filters": {"directory": "src"}', f'the filter "directory" {KNOWN}'),
        ('"top_k": 50', f'the filter "top_k" {KNOWN}'),
        ('"filters": ["tsql"]', "filters must be an object, not a list or text"),
        ('"filters": "tsql"', "filters must be an object, not a list or text"),
        ('"filters": {"language": {"not": "tsql"}}', 'the filter "language" must be text or a list of texts'),
        ('"filters": {"language": [["tsql"]]}', 'the filter "language" must be text or a list of texts'),
        ('"is_latest": "perhaps"', 'the filter "is_latest" must be true or false'),
        ('"is_latest": [true, false]', 'the filter "is_latest" must be true or false'),
        ('"tests": "none"', 'the filter "tests" must be true or false'),
    ],
)
def test_a_filter_that_cannot_be_used_is_dropped_and_told(written: str, problem: str) -> None:
    parsed = parse(f'{{"query": "q", "kind": "cs", {written}}}')
    assert (parsed.query, parsed.filter) == ("q", NodeFilter(kinds=("cs",)))
    (note,) = parsed.unusable
    assert note.startswith(problem)


def test_of_a_filter_that_is_given_twice_the_first_counts() -> None:
    parsed = parse('{"query": "q", "is_test": true, "tests": false, "language": "a", "filters": {"languages": "b"}}')
    assert parsed.filter == NodeFilter(is_test=True, languages=("a",))
    assert parsed.unusable == ('the filter "tests" is given twice', 'the filter "languages" is given twice')


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("vat", ""),
        ("{}", "the query in it is empty"),
        ('{"query": " ", "kind": "cs"}', "the query in it is empty"),
        ("x" * MAX_QUERY_CHARACTERS, ""),
        (f'{{"query": "{"x" * 8_193}"}}', "the query in it has 8193 characters, and at most 8192 can be searched for"),
    ],
)
def test_a_query_that_cannot_be_searched_for_is_told(written: str, problem: str) -> None:
    assert query_problem(written) == problem


def test_the_longest_query_is_that_of_the_server() -> None:
    assert MAX_QUERY_CHARACTERS == MAX_QUERY_CHARS


@given(st.text() | st.text(alphabet="{}[]\"'`,: \\uad0query\n").map(lambda text: "{" + text))
@example("{" * 100_000)
@example('{"query": "' + "\\" * 1001)
@example("```" * 1000)
def test_whatever_is_written_is_read(written: str) -> None:
    query = parse(written).query
    assert query == query.strip()


def test_a_message_quotes_no_more_of_an_answer_than_tells_what_is_meant() -> None:
    for text in ('{"%s": "x"}', '{"query": "q", "%s": "x"}'):
        (note,) = parse(text % ("long" * 100_000)).unusable
        assert len(note) < 1000
