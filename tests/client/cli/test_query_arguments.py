"""What `query` sends, and what the options of a filter mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from groundwire.v1 import query_pb2, retrieval_pb2, scope_pb2
from support.messages import all_fields, set_fields

if TYPE_CHECKING:
    from client.cli.conftest import Run
    from client.conftest import FakeServer


def narrowed(server: FakeServer) -> scope_pb2.NodeFilter:
    request = server.actions[-1]
    assert isinstance(
        request,
        query_pb2.QueryRequest
        | retrieval_pb2.SearchNodesRequest
        | retrieval_pb2.ExpandDependencyTreeRequest
        | retrieval_pb2.FetchNodeTextsRequest,
    )
    return request.filter


def test_query_sends_its_options(server: FakeServer, run: Run) -> None:
    hybrid = "-k 3 --alpha 0.5 --min-sim 0 --vec-limit 200 --lex-limit 300 --trgm-limit 0.4 --max-candidates 400"
    ranking = "--diversify 0.25 --fusion rrf --rrf-k 9 --retriever dense --retriever trigram --rerank"
    fresh = "--lifecycle deleted --half-life 30.5 --freshness 0 --now 2025-01-01T12:00:00+02:00"
    routing = "--process billing --doc-class manual --workflow-id w-1"
    more = "--no-parents --neighbors --graph --texts --budget-tokens 500 --explain --index v7 --tenant acme"
    assert run("query", "where is vat", *f"{hybrid} {ranking} {fresh} {routing} {more} --kind cs".split()).code == 0
    request = server.attempts[0].request
    assert request == query_pb2.QueryRequest(
        scope=scope_pb2.IndexScope(repository="shop", branch="main", active_index="v7"),
        access=scope_pb2.AccessContext(tenant_id="acme"),
        query="where is vat",
        filter=scope_pb2.NodeFilter(kinds=["cs"]),
        hybrid=query_pb2.HybridParameters(
            alpha=0.5,
            min_sim=0,
            top_k=3,
            vec_limit=200,
            lex_limit=300,
            trgm_limit=0.4,
            max_candidates=400,
            diversify_strength=0.25,
        ),
        lifecycle=scope_pb2.LIFECYCLE_DELETED,
        process="billing",
        doc_class="manual",
        workflow_id="w-1",
        retrievers=[retrieval_pb2.RETRIEVER_DENSE, retrieval_pb2.RETRIEVER_TRIGRAM],
        fusion=query_pb2.FUSION_MODE_RRF,
        rrf_k=9,
        rerank=True,
        freshness_half_life_days=30.5,
        freshness_weight=0,
        now=Timestamp(seconds=1735725600),
        include_parents=False,
        include_neighbors=True,
        expand_graph=True,
        budget_tokens=500,
    )


def test_query_leaves_the_defaults_to_the_server(server: FakeServer, run: Run) -> None:
    run("query", "vat")
    request = server.attempts[0].request
    assert isinstance(request, query_pb2.QueryRequest)
    assert set_fields(request) == {"scope", "query", "filter", "hybrid", "include_parents"}
    assert request.include_parents
    assert request.lifecycle == scope_pb2.LIFECYCLE_UNSPECIFIED


@pytest.mark.parametrize("moment", ["2025-01-01", "2025-01-01T00:00:00Z", "2025-01-01 01:00+01:00"])
def test_a_time_is_in_utc_unless_it_has_an_offset(server: FakeServer, run: Run, moment: str) -> None:
    run("query", "vat", "--now", moment)
    request = server.attempts[0].request
    assert isinstance(request, query_pb2.QueryRequest)
    assert request.now == Timestamp(seconds=1735689600)


@pytest.mark.parametrize("name", ["query", "search", "expand", "fetch"])
def test_all_commands_narrow_alike(server: FakeServer, run: Run, name: str) -> None:
    flags = "--kind cs --data-type d --corpus CODE_LOGIC --corpus-type DOC_README --language l --path src/"
    more = "--service billing --repo shop --collection k --document m --filter tenant_id=acme --filter case_id=7"
    rest = "--filter document_version_id=v1 --filter is_latest=true --filter team=tax --no-tests --generated"
    assert run(name, "vat", *f"{flags} {more} {rest}".split()).code == 0
    sent = narrowed(server)
    assert set_fields(sent) == all_fields(sent)
    assert list(sent.corpus_types) == ["CODE_LOGIC", "DOC_README"]
    assert (list(sent.service_names), list(sent.repo_names), list(sent.case_ids)) == (["billing"], ["shop"], ["7"])
    assert (sent.is_latest, sent.is_test, sent.is_generated) == (True, False, True)
    assert dict(sent.metadata) == {"team": "tax"}


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (["kind=cs", "kinds=sql"], {"kinds": ["cs", "sql"]}),
        (["path_prefix=a=b/"], {"path_prefixes": ["a=b/"]}),
        (["document_id=null"], {"document_ids": ["null"]}),
        (["is_latest=false"], {"is_latest": False}),
        (["is_test=true", "is_generated=false"], {"is_test": True, "is_generated": False}),
        (["priority=2"], {"metadata": {"priority": 2}}),
        (['priority="2"'], {"metadata": {"priority": "2"}}),
        (["closed_by=null"], {"metadata": {"closed_by": None}}),
        (["team=tax", "team=vat"], {"metadata": {"team": ["tax", "vat"]}}),
        (['team=["tax","vat"]', "team=3"], {"metadata": {"team": ["tax", "vat", 3]}}),
        (["team="], {"metadata": {"team": ""}}),
        (['metadata={"lang": "de"}', "team=tax"], {"metadata": {"lang": "de", "team": "tax"}}),
    ],
)
def test_pairs_are_fields_or_metadata(
    server: FakeServer, run: Run, pairs: list[str], expected: dict[str, object]
) -> None:
    assert run("query", "vat", *(part for pair in pairs for part in ("--filter", pair))).code == 0
    wanted = scope_pb2.NodeFilter()
    for name, value in expected.items():
        if isinstance(value, dict):
            wanted.metadata.update(value)
        elif isinstance(value, list):
            getattr(wanted, name).extend(value)
        else:
            setattr(wanted, name, value)
    assert narrowed(server) == wanted


def test_options_and_pairs_of_one_field_are_alternatives(server: FakeServer, run: Run) -> None:
    run("query", "vat", "--kind", "cs", "--filter", "kind=sql")
    assert list(narrowed(server).kinds) == ["cs", "sql"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("query",), "question"),
        (("query", "vat", "--retriever", "vector"), "vector"),
        (("query", "vat", "--fusion", "sum"), "sum"),
        (("query", "vat", "--lifecycle", "hidden"), "hidden"),
        (("query", "vat", "--alpha", "much"), "--alpha"),
        (("query", "vat", "--top-k", "99999999999"), "99999999999"),
        (("query", "vat", "--now", "yesterday"), "'yesterday' is no time in iso 8601"),
        (("query", "vat", "--filter", "team"), "'team' is no key=value"),
        (("query", "vat", "--filter", "lang=de"), "lang: is no field of a filter; did you mean language?"),
        (("query", "vat", "--filter", "metadata=de"), "metadata: 'de' must be a mapping"),
        (("query", "vat", "--filter", "=tax"), "'=tax' is no key=value"),
        (("query", "vat", "--filter", "is_latest=perhaps"), "is_latest: 'perhaps' must be true"),
        (("query", "vat", "--filter", "is_latest=true", "--filter", "is_latest=false"), "is_latest: [true, false]"),
        (("query", "vat", "--filter", 'team={"name": 1}'), "metadata['team']"),
        (("query", "vat", "--filter", "case_id="), "case_ids: [''] must hold no empty string"),
        (("search", "vat", "--filter", "team"), "'team' is no key=value"),
        (("expand", "a", "--no-tests", "--filter", "is_test=true"), "is_test: [false, true]"),
        (("fetch", "a", "--filter", "is_test=no"), "is_test: 'no' must be true"),
        (("expand", "a", "--min-confidence", "sure"), "--min-confidence"),
    ],
)
def test_wrong_usage_ends_with_two_and_reaches_no_server(
    server: FakeServer, run: Run, arguments: tuple[str, ...], named: str
) -> None:
    output = run(*arguments)
    assert (output.code, output.stdout) == (2, "")
    assert named in " ".join(output.stderr.replace("│", " ").split()).lower()
    assert server.attempts == []
