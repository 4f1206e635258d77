"""Several indexes asked together answer as one index of all their nodes does, and hidden ones as if absent."""

from collections.abc import Iterator, Sequence

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from groundwire.v1 import evidence_pb2, query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc
from groundwire.v1.scope_pb2 import (
    LIFECYCLE_ALL,
    LIFECYCLE_DELETED,
    LIFECYCLE_UNSPECIFIED,
    AccessContext,
    IndexScope,
    Lifecycle,
    NodeFilter,
)
from groundwire_client import GroundwireClient, Retriever, SearchType
from groundwire_client.cli import app
from support.jsonl import node
from support.platform import NOW, timeless, timestamp
from support.program import Server, write_jsonl
from support.properties import costly
from support.refusals import DENIED, FAILED, INVALID, NOT_FOUND, Row, check_refused, with_fields
from support.several_indexes import ALL_PARTS, AUDITOR, PARTS, WHOLE, WORDS, as_of_whole, records_of
from support.storage import NewStorage


@pytest.fixture(scope="module")
def server(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over the parts, the whole of them, and indexes that some callers do not see or that do not fit."""
    folder = tmp_path_factory.mktemp("several")
    storage = new_storage(folder / "data")
    parts = {name: records_of(name, seed) for seed, name in enumerate(PARTS)}
    plain = [{name: value for name, value in record.items() if name != "vector"} for record in parts["team-a"]]
    others = {
        "whole": [record for records in parts.values() for record in records],
        "team-vault": [node("team-vault/1", "invoice invoice", [1.0, 0.0, 0.0, 0.0], acl_tags=["vault"])],
        "plain": plain,
        "wide": [node("wide/1", "invoice", [1.0, 0.0])],
    }
    for name, records in {**parts, **others}.items():
        source = write_jsonl(folder / f"{name}.jsonl", records)
        storage.run_ok(
            "index", source, "--repository", name, "--branch", "main", "--version", "v1", "--embedder", "none"
        )
    environment = {"GROUNDWIRE_LIFECYCLE_OVERRIDE_ACL_TAGS": AUDITOR}
    with storage.server("--embedder", "none", environment=environment) as server:
        yield server


@pytest.fixture(scope="module")
def channel(server: Server) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(server.address) as channel:
        yield channel


@pytest.fixture(scope="module")
def queries(channel: grpc.Channel) -> query_pb2_grpc.QueryServiceStub:
    return query_pb2_grpc.QueryServiceStub(channel)


@pytest.fixture(scope="module")
def searches(channel: grpc.Channel) -> retrieval_pb2_grpc.RetrievalServiceStub:
    return retrieval_pb2_grpc.RetrievalServiceStub(channel)


def stripped(response: query_pb2.QueryResponse) -> query_pb2.QueryResponse:
    response.ClearField("scopes")
    response.index, response.meta.took_ms = "", 0.0
    for match in response.matches:
        match.ClearField("scope")
    return response


words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
vectors = st.lists(st.sampled_from([-1.0, 0.0, 0.25, 1.0]), min_size=4, max_size=4).filter(any)
tags = st.lists(st.sampled_from(["finance", AUDITOR]), unique=True)
lifecycles = st.sampled_from([LIFECYCLE_UNSPECIFIED, LIFECYCLE_ALL])
filters = st.sampled_from(
    [None, NodeFilter(is_test=False), NodeFilter(corpus_types=["DOC_README"]), NodeFilter(service_names=["web"])]
)


@costly()
@given(
    query=words,
    query_vector=vectors,
    top_k=st.sampled_from([1, 3, 10, 100]),
    limit=st.sampled_from([1, 4, 150]),
    tags=tags,
    lifecycle=lifecycles,
    filter_=filters,
    fusion=st.sampled_from(query_pb2.FusionMode.values()),
    flags=st.fixed_dictionaries(
        {name: st.booleans() for name in ("include_parents", "include_neighbors", "expand_graph")}
    ),
    diversity=st.sampled_from([0.0, 0.5]),
    budget=st.sampled_from([None, 60]),
)
def test_a_query_over_the_parts_equals_one_over_the_whole(
    queries: query_pb2_grpc.QueryServiceStub,
    query: str,
    query_vector: list[float],
    top_k: int,
    limit: int,
    tags: list[str],
    lifecycle: Lifecycle.ValueType,
    filter_: NodeFilter | None,
    fusion: query_pb2.FusionMode.ValueType,
    flags: dict[str, bool],
    diversity: float,
    budget: int | None,
) -> None:
    request = query_pb2.QueryRequest(
        query=query, query_vector=query_vector, top_k=top_k, filter=filter_, fusion=fusion,
        now=timestamp(NOW), budget_tokens=budget, **flags, access=AccessContext(acl_tags_any=tags),
        lifecycle=lifecycle if AUDITOR in tags else None,
        hybrid=query_pb2.HybridParameters(vec_limit=limit, lex_limit=limit, diversify_strength=diversity, trgm_limit=0),
    )  # fmt: skip
    several, whole = query_pb2.QueryRequest(scopes=ALL_PARTS), query_pb2.QueryRequest(scope=WHOLE)
    for message in (several, whole):
        message.MergeFrom(request)
    actual, expected = queries.Query(several, timeout=300), queries.Query(whole, timeout=300)
    assert [match.scope.repository for match in actual.matches] == [match.id.split(":")[0] for match in actual.matches]
    assert as_of_whole(stripped(actual)) == as_of_whole(stripped(expected))


@costly()
@given(
    query=words,
    query_vector=vectors,
    search_type=st.sampled_from(retrieval_pb2.SearchType.values()),
    top_k=st.sampled_from([1, 3, 100]),
    tags=tags,
    lifecycle=lifecycles,
    filter_=filters,
    explain=st.booleans(),
)
def test_a_search_of_the_parts_equals_one_of_the_whole(
    searches: retrieval_pb2_grpc.RetrievalServiceStub,
    query: str,
    query_vector: list[float],
    search_type: retrieval_pb2.SearchType.ValueType,
    top_k: int,
    tags: list[str],
    lifecycle: Lifecycle.ValueType,
    filter_: NodeFilter | None,
    explain: bool,
) -> None:
    takes_vector = search_type != retrieval_pb2.SEARCH_TYPE_BM25
    request = retrieval_pb2.SearchNodesRequest(
        query=query, query_vector=query_vector if takes_vector else (), search_type=search_type, top_k=top_k,
        filter=filter_, explain=explain, access=AccessContext(acl_tags_any=tags),
        lifecycle=lifecycle if AUDITOR in tags else None,
    )  # fmt: skip
    several, whole = retrieval_pb2.SearchNodesRequest(scopes=ALL_PARTS), retrieval_pb2.SearchNodesRequest(scope=WHOLE)
    for message in (several, whole):
        message.MergeFrom(request)
    actual, expected = searches.SearchNodes(several, timeout=300), searches.SearchNodes(whole, timeout=300)
    assert list(actual.scopes) == [IndexScope(repository=name, branch="main", active_index="v1") for name in PARTS]
    for response in (actual, expected):
        response.ClearField("scopes")
        response.index = ""
        for hit in response.hits:
            hit.ClearField("scope")
    assert as_of_whole(actual) == as_of_whole(expected)


@costly()
@given(
    question=words,
    query_vector=vectors,
    shown=st.lists(st.integers(min_value=0, max_value=4), max_size=3, unique=True),
    graph_share=st.sampled_from([0.0, 0.25, 1.0]),
    tags=tags,
    lifecycle=lifecycles,
    filter_=filters,
)
def test_evidence_of_the_parts_equals_that_of_the_whole(
    queries: query_pb2_grpc.QueryServiceStub,
    question: str,
    query_vector: list[float],
    shown: list[int],
    graph_share: float,
    tags: list[str],
    lifecycle: Lifecycle.ValueType,
    filter_: NodeFilter | None,
) -> None:
    """The budget has room for everything: what the text says of scopes takes other tokens for other names."""

    def gathered(scopes: Sequence[IndexScope], repository: str) -> evidence_pb2.GatherEvidenceResponse:
        return queries.GatherEvidence(
            evidence_pb2.GatherEvidenceRequest(
                scopes=scopes, question=question, query_vector=query_vector, budget_tokens=100_000, filter=filter_,
                shown_ids=[f"{repository}::main::cs::team-a/{number:02}" for number in shown],
                graph_share=graph_share, access=AccessContext(acl_tags_any=tags), now=timestamp(NOW), explain=True,
                lifecycle=lifecycle if AUDITOR in tags else None,
            ),
            timeout=300,
        )  # fmt: skip

    actual, expected = gathered(ALL_PARTS, "team-a"), gathered([WHOLE], "whole")
    assert [passage.scope.repository for passage in actual.passages] == [
        passage.id.partition("::")[0] for passage in actual.passages
    ]
    for response in (actual, expected):
        response.ClearField("scopes")
        for shown_node in (*response.passages, *response.named):
            shown_node.ClearField("scope")
        for passage in response.passages:
            passage.token_count = 0
        response.used_tokens = 0
        for name in (*PARTS, "whole"):
            response.rendered = response.rendered.replace(f"{name}::main ", "")
    assert as_of_whole(actual) == as_of_whole(expected)


def ask(queries: query_pb2_grpc.QueryServiceStub, *names: str, tags: Sequence[str] = (), **fields: object) -> list[str]:
    """The repositories that answer, for scopes of these repositories."""
    scopes = [IndexScope(repository=name, branch="main") for name in names]
    request = query_pb2.QueryRequest(
        scopes=scopes, query="invoice", query_vector=[1.0, 0.0, 0.0, 0.0], access=AccessContext(acl_tags_any=tags)
    )
    return [scope_.repository for scope_ in queries.Query(with_fields(request, fields), timeout=300).scopes]


def test_patterns_mean_what_the_caller_may_see(queries: query_pb2_grpc.QueryServiceStub) -> None:
    assert ask(queries, "team-*") == [*PARTS]
    assert ask(queries, "team-*", tags=["vault"]) == [*PARTS, "team-vault"]
    assert ask(queries, "team-b", "team-*") == [*PARTS]
    assert ask(queries, "whole", "team-b") == ["team-b", "whole"]


def test_a_pinned_version_is_kept_beside_a_pattern(queries: query_pb2_grpc.QueryServiceStub) -> None:
    pinned = IndexScope(repository="team-b", branch="main", active_index="v1")
    request = query_pb2.QueryRequest(scopes=[pinned, IndexScope(repository="team-*", branch="*")], query="tax")
    request.query_vector.extend([1.0, 0.0, 0.0, 0.0])
    response = queries.Query(request, timeout=300)
    assert list(response.scopes) == [IndexScope(repository=name, branch="main", active_index="v1") for name in PARTS]
    assert {match.scope.active_index for match in response.matches} == {"v1"}
    again = query_pb2.QueryRequest()
    again.CopyFrom(request)
    again.now.CopyFrom(response.meta.now)
    del again.scopes[:]
    again.scopes.extend(response.scopes)
    assert str(stripped(queries.Query(again, timeout=300))) == str(stripped(response))


def test_a_hidden_index_changes_nothing(queries: query_pb2_grpc.QueryServiceStub) -> None:
    request = query_pb2.QueryRequest(query="invoice refund", query_vector=[1.0, 0.0, 0.0, 0.0], now=timestamp(NOW))
    by_name, by_pattern = query_pb2.QueryRequest(scopes=ALL_PARTS), query_pb2.QueryRequest(scopes=[scope("team-*")])
    for message in (by_name, by_pattern):
        message.MergeFrom(request)
    assert timeless(queries.Query(by_pattern, timeout=300)) == timeless(queries.Query(by_name, timeout=300))


def scope(repository: str, **fields: str) -> IndexScope:
    return IndexScope(repository=repository, **{"branch": "main", **fields})


def asking(*scopes: IndexScope, **fields: object) -> query_pb2.QueryRequest:
    request = query_pb2.QueryRequest(scopes=scopes, query="invoice", query_vector=[1.0, 0.0, 0.0, 0.0])
    return with_fields(request, fields)


REFUSED = [
    Row("an absent index", asking(scope("team-a"), scope("absent")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("a hidden index", asking(scope("team-a"), scope("team-vault")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("an absent version", asking(scope("team-a", active_index="v0")), NOT_FOUND, "INDEX_NOT_FOUND"),
    Row("a pattern of absent names", asking(scope("team-a"), scope("absent*")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("a pattern of hidden names", asking(scope("team-a"), scope("team-v*")), NOT_FOUND, "SCOPE_NOT_FOUND"),
    Row("a scope and several", asking(scope("team-a"), scope=WHOLE), INVALID, "FIELDS_CONFLICT", "scope"),
    Row("a scope twice", asking(scope("whole"), scope("whole")), INVALID, "FIELDS_CONFLICT", "scopes[1]"),
    Row("no branch", asking(scope("team-a", branch="")), INVALID, "FIELD_REQUIRED", "scopes[0].branch"),
    Row("a malformed name", asking(scope("a::b")), INVALID, "VALUE_MALFORMED", "scopes[0].repository"),
    Row("a pattern with a version", asking(scope("team-*", active_index="v1")),
        INVALID, "FIELDS_CONFLICT", "scopes[0].active_index"),
    Row("too many scopes", asking(*(scope(f"r{number}") for number in range(201))),
        INVALID, "VALUE_OUT_OF_RANGE", "scopes"),
    Row("none with vectors", asking(scope("plain")), FAILED, "VECTORS_MISSING"),
    Row("vectors of another space", asking(scope("team-a"), scope("wide")), FAILED, "EMBEDDER_MISMATCH"),
]  # fmt: skip


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row.rule)
def test_what_is_refused(queries: query_pb2_grpc.QueryServiceStub, row: Row) -> None:
    check_refused(row, queries.Query)


@pytest.mark.parametrize("lifecycle", [LIFECYCLE_ALL, LIFECYCLE_DELETED], ids=Lifecycle.Name)
@pytest.mark.parametrize("name", ["team-a", "absent", "team-*", "team-v*", "absent*"])
def test_a_lifecycle_that_is_not_granted_tells_of_no_index(
    queries: query_pb2_grpc.QueryServiceStub,
    searches: retrieval_pb2_grpc.RetrievalServiceStub,
    name: str,
    lifecycle: Lifecycle.ValueType,
) -> None:
    """Whether the pattern matches visible scopes, only hidden ones, or none."""
    search = retrieval_pb2.SearchNodesRequest(
        scopes=[scope(name)], query="a", search_type=retrieval_pb2.SEARCH_TYPE_BM25, top_k=9, lifecycle=lifecycle
    )
    for request, method in ((asking(scope(name), lifecycle=lifecycle), queries.Query), (search, searches.SearchNodes)):
        check_refused(Row(name, request, DENIED, "LIFECYCLE_NOT_GRANTED", "lifecycle"), method)


def test_a_hidden_index_is_refused_as_an_absent_one_is(queries: query_pb2_grpc.QueryServiceStub) -> None:
    """But for the name that the caller gave."""

    def refusal(name: str) -> tuple[object, bytes]:
        with pytest.raises(grpc.RpcError) as raised:
            queries.Query(asking(scope("team-a"), scope(name)), timeout=300)
        assert isinstance(raised.value, grpc.Call)
        details = dict(raised.value.trailing_metadata() or ())["grpc-status-details-bin"]
        assert isinstance(details, bytes)
        return raised.value.details(), details.replace(name.encode(), b"NAME")

    assert refusal("team-vault") == refusal("team-vaunt")


def left_out(response: query_pb2.QueryResponse | retrieval_pb2.SearchNodesResponse) -> list[tuple[str, str]]:
    return [
        (omission.scope.repository, retrieval_pb2.Retriever.Name(omission.retriever).removeprefix("RETRIEVER_"))
        for omission in response.left_out
    ]


@pytest.mark.parametrize("retrievers", [[], ["RETRIEVER_DENSE", "RETRIEVER_BM25_CODE"]], ids=["all", "named"])
def test_of_several_an_index_without_vectors_is_searched_by_words(
    queries: query_pb2_grpc.QueryServiceStub, retrievers: list[str]
) -> None:
    """Nothing but its dense list is missing, and the response says so."""
    request = asking(scope("team-a"), scope("plain"), retrievers=retrievers or None, top_k=100, now=timestamp(NOW))
    answer = queries.Query(request, timeout=300)
    assert left_out(answer) == [("plain", "DENSE")]
    assert answer.left_out[0].scope.active_index == "v1"
    assert {match.scope.repository for match in answer.matches} == {"plain", "team-a"}
    for match in answer.matches:
        assert match.scores.HasField("dense") is (match.scope.repository == "team-a")
        assert match.scores.bm25_code > 0 or match.scope.repository == "team-a"
    diverse = with_fields(request, {"hybrid": query_pb2.HybridParameters(diversify_strength=0.5)})
    assert len(queries.Query(diverse, timeout=300).matches) == len(answer.matches)


def test_of_several_each_search_type_finds_what_the_others_hold(
    searches: retrieval_pb2_grpc.RetrievalServiceStub,
) -> None:
    def searched(
        *names: str, search_type: retrieval_pb2.SearchType.ValueType = retrieval_pb2.SEARCH_TYPE_UNSPECIFIED
    ) -> retrieval_pb2.SearchNodesResponse:
        vector = () if search_type == retrieval_pb2.SEARCH_TYPE_BM25 else [1.0, 0.0, 0.0, 0.0]
        request = retrieval_pb2.SearchNodesRequest(
            scopes=[scope(name) for name in names], query="invoice", query_vector=vector, search_type=search_type,
            top_k=100, explain=True,
        )  # fmt: skip
        return searches.SearchNodes(request, timeout=300)

    semantic = retrieval_pb2.SEARCH_TYPE_SEMANTIC
    both, alone = searched("plain", "team-a", search_type=semantic), searched("team-a", search_type=semantic)
    assert (list(both.hits), left_out(both), left_out(alone)) == (list(alone.hits), [("plain", "DENSE")], [])
    words = searched("plain", "team-a", search_type=retrieval_pb2.SEARCH_TYPE_BM25)
    assert {hit.scope.repository for hit in words.hits} == {"plain", "team-a"}
    assert not words.left_out
    for mixed in (
        searched("plain", "team-a"),
        searched("plain", "team-a", search_type=retrieval_pb2.SEARCH_TYPE_HYBRID),
    ):
        assert (mixed.search_type, left_out(mixed)) == (retrieval_pb2.SEARCH_TYPE_HYBRID, [("plain", "DENSE")])
        assert {hit.id for hit in mixed.hits} == {hit.id for hit in (*both.hits, *words.hits)}


def test_of_one_index_what_is_not_asked_for_by_name_is_left_out(
    searches: retrieval_pb2_grpc.RetrievalServiceStub, queries: query_pb2_grpc.QueryServiceStub
) -> None:
    plain = scope("plain")
    by_words = searches.SearchNodes(
        retrieval_pb2.SearchNodesRequest(scope=plain, query="invoice", top_k=5), timeout=300
    )
    assert (by_words.search_type, left_out(by_words)) == (retrieval_pb2.SEARCH_TYPE_BM25, [("plain", "DENSE")])
    assert left_out(queries.Query(query_pb2.QueryRequest(scope=plain, query="invoice"), timeout=300)) == [
        ("plain", "DENSE")
    ]
    for search_type in (retrieval_pb2.SEARCH_TYPE_SEMANTIC, retrieval_pb2.SEARCH_TYPE_HYBRID):
        request = retrieval_pb2.SearchNodesRequest(
            scope=plain, query="invoice", query_vector=[1.0], search_type=search_type, top_k=5
        )
        check_refused(Row("", request, FAILED, "VECTORS_MISSING"), searches.SearchNodes)
    named = query_pb2.QueryRequest(scope=plain, query="invoice", retrievers=[retrieval_pb2.RETRIEVER_DENSE])
    check_refused(Row("", named, FAILED, "VECTORS_MISSING"), queries.Query)


def test_words_are_searched_where_vectors_cannot_be_compared(queries: query_pb2_grpc.QueryServiceStub) -> None:
    words = [retrieval_pb2.RETRIEVER_BM25_CODE, retrieval_pb2.RETRIEVER_BM25_PROSE]
    request = asking(scope("team-a"), scope("plain"), scope("wide"), query_vector=None, retrievers=words)
    assert len(queries.Query(request, timeout=300).scopes) == 3


def test_the_client_and_the_command_ask_several(server: Server) -> None:
    with GroundwireClient(server.address, timeout=300) as client:
        words = [Retriever.RETRIEVER_BM25_CODE]
        response = client.query([scope("team-*"), scope("plain")], "invoice", retrievers=words)
        assert [index.repository for index in response.scopes] == ["plain", *PARTS]
        hits = client.search(list(response.scopes), "invoice", search_type=SearchType.SEARCH_TYPE_BM25).hits
        fetched = client.fetch(hits[0].scope, [hits[0].id])
        assert [text.id for text in fetched.texts] == [hits[0].id]
    arguments = ["-r", "team-*", "-b", "main", "--retriever", "bm25_code", "--server", server.address]
    done = CliRunner().invoke(app, ["query", "invoice", *arguments])
    assert done.exit_code == 0, done.output
    assert "index: team-a::main::v1, team-b::main::v1, team-c::main::v1" in done.output
    assert f" · {hits[0].scope.repository}::main" in done.output
