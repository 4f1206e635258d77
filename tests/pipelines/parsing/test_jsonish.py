import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from groundwire_client import NodeFilter
from groundwire_pipelines.errors import StepError
from groundwire_pipelines.parsing.filters import CALLER_NAMES, FILTER_NAMES
from groundwire_pipelines.parsing.jsonish import ParsedQuery
from groundwire_pipelines.parsing.jsonish import parse_jsonish as parse

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
    ("rule", "written"),
    [
        ("query-malformed", '{"query": '),
        ("query-malformed", "{ get; set; }"),
        ("query-malformed", '{"query": ["a"]}'),
        ("query-malformed", '{"query": {"text": "a"}}'),
        ("filter-unknown", '{"query": "q", "filters": {"author": "me"}}'),
        ("filter-unknown", '{"query": "q", "top_k": 50}'),
        ("filter-malformed", '{"query": "q", "filters": ["tsql"]}'),
        ("filter-malformed", '{"query": "q", "filters": "tsql"}'),
        ("filter-malformed", '{"query": "q", "filters": {"language": {"not": "tsql"}}}'),
        ("filter-malformed", '{"query": "q", "filters": {"language": [["tsql"]]}}'),
        ("filter-malformed", '{"query": "q", "is_latest": "perhaps"}'),
        ("filter-malformed", '{"query": "q", "is_latest": [true, false]}'),
        ("filter-malformed", '{"query": "q", "tests": "none"}'),
        ("filter-malformed", '{"query": "q", "tests": true, "is_test": true}'),
        ("filter-malformed", '{"query": "q", "language": "tsql", "filters": {"languages": "csharp"}}'),
    ],
)
def test_refuses_what_it_would_have_to_guess(rule: str, written: str) -> None:
    with pytest.raises(StepError) as caught:
        parse(written)
    assert caught.value.rule == rule


@given(st.text() | st.text(alphabet="{}[]\"'`,: \\uad0query\n").map(lambda text: "{" + text))
@example("{" * 100_000)
@example('{"query": "' + "\\" * 1001)
@example("```" * 1000)
def test_whatever_is_written_is_read_or_refused_as_a_step(written: str) -> None:
    try:
        query = parse(written).query
    except StepError:
        query = ""
    assert query == query.strip()


def test_a_message_quotes_no_more_of_an_answer_than_tells_what_is_meant() -> None:
    for text in ('{"%s": "x"}', '{"query": "q", "is_test": "%s"}'):
        with pytest.raises(StepError) as caught:
            parse(text % ("long" * 100_000))
        assert len(caught.value.message) < 2000
