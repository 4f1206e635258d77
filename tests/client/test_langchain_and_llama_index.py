"""The retrievers for LangChain and LlamaIndex: what they ask, and what the frameworks get, by every way of calling.

The frameworks are imported by the tests that run, because each takes seconds.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import grpc
import pytest
from google.rpc import error_details_pb2

from groundwire.v1 import evidence_pb2, retrieval_pb2
from groundwire_client import (
    AccessContext,
    AsyncGroundwireClient,
    GroundwireClient,
    IndexScope,
    NodeFilter,
    NotFoundError,
    pinned,
)
from groundwire_ingest.records import StatedAccess
from support import programs
from support.builds import V1, build, node
from support.program import Server
from support.tools import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from langchain_core.documents import Document
    from llama_index.core.schema import NodeWithScore

    from client.conftest import FakeServer
    from groundwire_client.langchain import GroundwireRetriever as LangChainRetriever
    from groundwire_client.llama_index import GroundwireRetriever as LlamaIndexRetriever

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
URL = "https://git.example/shop/src/Tax.cs#L3-L9"
BILLING = AccessContext(acl_tags_any=["billing"])
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


# A socket is allowed to ask for nothing but pairs of this process, as an event loop does.
class Found(NamedTuple):
    """A text as a framework gets it; LangChain has scores in the metadata alone."""

    id: str | None
    text: str
    score: float | None
    metadata: Mapping[str, object]


class Ask(Protocol):
    """What a new retriever with these options finds at `target` for a question."""

    def __call__(self, target: str, question: str, **options: Any) -> Sequence[Found]: ...


def for_langchain(client: GroundwireClient | AsyncGroundwireClient, **options: Any) -> LangChainRetriever:
    from groundwire_client.langchain import GroundwireRetriever

    return GroundwireRetriever(client=client, scope=SCOPE, **options)


def for_llama_index(client: GroundwireClient | AsyncGroundwireClient, **options: Any) -> LlamaIndexRetriever:
    from groundwire_client.llama_index import GroundwireRetriever

    return GroundwireRetriever(client, SCOPE, **options)


def documents(retrieved: Sequence[Document]) -> list[Found]:
    return [
        Found(document.id, document.page_content, document.metadata["score"], document.metadata)
        for document in retrieved
    ]


def nodes(retrieved: Sequence[NodeWithScore]) -> list[Found]:
    return [Found(document.node_id, document.text, document.score, document.metadata) for document in retrieved]


def _langchain(target: str, question: str, **options: Any) -> Sequence[Found]:
    with GroundwireClient(target) as client:
        return documents(for_langchain(client, **options).invoke(question))


def _langchain_in_a_thread(target: str, question: str, **options: Any) -> Sequence[Found]:
    with GroundwireClient(target) as client:
        retriever = for_langchain(client, **options)
        return documents(asyncio.run(retriever.ainvoke(question)))


def _langchain_async(target: str, question: str, **options: Any) -> Sequence[Found]:
    async def ask() -> list[Document]:
        async with AsyncGroundwireClient(target) as client:
            return await for_langchain(client, **options).ainvoke(question)

    return documents(asyncio.run(ask()))


def _llama_index(target: str, question: str, **options: Any) -> Sequence[Found]:
    with GroundwireClient(target) as client:
        return nodes(for_llama_index(client, **options).retrieve(question))


def _llama_index_in_a_thread(target: str, question: str, **options: Any) -> Sequence[Found]:
    with GroundwireClient(target) as client:
        return nodes(asyncio.run(for_llama_index(client, **options).aretrieve(question)))


def _llama_index_async(target: str, question: str, **options: Any) -> Sequence[Found]:
    async def ask() -> list[NodeWithScore]:
        async with AsyncGroundwireClient(target) as client:
            return await for_llama_index(client, **options).aretrieve(question)

    return nodes(asyncio.run(ask()))


WAYS = (
    _langchain,
    _langchain_in_a_thread,
    _langchain_async,
    _llama_index,
    _llama_index_in_a_thread,
    _llama_index_async,
)


@pytest.fixture(params=WAYS, ids=lambda way: way.__name__.lstrip("_"))
def ask(request: pytest.FixtureRequest) -> Ask:
    """Each framework, each way."""
    way: Ask = request.param
    return way


@pytest.fixture
def answer(server: FakeServer) -> evidence_pb2.GatherEvidenceResponse:
    """A match in two parts, a node that an edge joins to it, and a node that is only named."""
    at = pinned(SCOPE, "v1")
    response = evidence_pb2.GatherEvidenceResponse(
        passages=[
            evidence_pb2.Passage(
                number=1,
                id="shop::main::cs::Tax.Rate",
                scope=at,
                citation="src/Tax.cs:3-9",
                location=retrieval_pb2.SourceLocation(path="src/Tax.cs", start_line=3, end_line=9, url=URL),
                symbol="Tax.Rate",
                kind="cs",
                form=evidence_pb2.PASSAGE_FORM_PART,
                parts=[
                    evidence_pb2.PassagePart(start_line=3, text="decimal Rate()"),
                    evidence_pb2.PassagePart(start_line=8, text="  return rate;"),
                ],
                match=evidence_pb2.PassageMatch(rank=1, score=0.75),
                token_count=14,
            ),
            evidence_pb2.Passage(
                number=2,
                id="c",
                scope=at,
                citation="c",
                symbol="Tax > VAT",
                kind="md",
                parts=[evidence_pb2.PassagePart(text="VAT")],
                edge=evidence_pb2.PassageEdge(number=1),
                token_count=5,
            ),
        ],
        named=[evidence_pb2.NamedNode(id="b", scope=at, node_token_count=5_000)],
        index="v1",
    )
    server.answer(response)
    return response


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A `groundwire serve` of public and of restricted nodes."""
    data = tmp_path_factory.mktemp("shop")
    public = StatedAccess(acl_tags=())
    records = [
        node(
            "Tax.Rate",
            "decimal VatRate()",
            path="src/Tax.cs",
            start_line=3,
            end_line=9,
            language="csharp",
            access=public,
        ),
        node("Tax.Table", "create table vat_rate", path="db/tax.sql", language="tsql", access=public),
        node("Tax.Secret", "vat secret", language="csharp", access=StatedAccess(acl_tags=("billing",))),
    ]
    build(data, records, V1)
    with Server(data, "--embedder", "none") as server:
        yield server


def test_each_text_comes_with_its_citation(
    server: FakeServer, answer: evidence_pb2.GatherEvidenceResponse, ask: Ask
) -> None:
    scope = {"repository": "shop", "branch": "main", "index": "v1"}
    first = {
        "id": "shop::main::cs::Tax.Rate",
        "citation": "src/Tax.cs:3-9",
        "path": "src/Tax.cs",
        "start_line": 3,
        "end_line": 9,
        "symbol": "Tax.Rate",
        "kind": "cs",
        "score": 0.75,
        "is_match": True,
        "number": 1,
        "token_count": 14,
        **scope,
        "url": URL,
    }
    places = {"path": "", "start_line": 0, "end_line": 0, "symbol": "Tax > VAT", "kind": "md"}
    second = {
        "id": "c", "citation": "c", **places, "score": 0.0, "is_match": False, "number": 2, "token_count": 5, **scope,
        "url": "",
    }  # fmt: skip
    assert ask(server.target, "vat?") == [
        Found("shop::main::cs::Tax.Rate", "decimal Rate()\n…\n  return rate;", 0.75, first),
        Found("c", "VAT", 0.0, second),
    ]


def test_by_default_a_retriever_asks_as_evidence_does(server: FakeServer, ask: Ask) -> None:
    with GroundwireClient(server.target) as client:
        client.evidence(SCOPE, "vat?")
    assert ask(server.target, "vat?") == []
    expected, request = server.actions
    assert request == expected


def test_each_argument_reaches_the_server(server: FakeServer, ask: Ask) -> None:
    ask(server.target, "vat?", budget_tokens=300, graph_share=0.5, filter={"language": "csharp"}, access=BILLING)
    (request,) = server.actions
    assert request == evidence_pb2.GatherEvidenceRequest(
        scope=SCOPE,
        access=BILLING,
        question="vat?",
        filter=NodeFilter(languages=["csharp"]),
        graph_share=0.5,
        budget_tokens=300,
    )


def test_an_error_of_the_client_passes_through(server: FakeServer, ask: Ask) -> None:
    info = error_details_pb2.ErrorInfo(reason="ERROR_REASON_SCOPE_NOT_FOUND", domain="groundwire")
    server.fail(grpc.StatusCode.NOT_FOUND, "no index", [info])
    with pytest.raises(NotFoundError, match="no index") as raised:
        ask(server.target, "vat?")
    assert raised.value.reason == "SCOPE_NOT_FOUND"


def test_a_filter_that_is_none_is_refused_before_any_call(server: FakeServer, ask: Ask) -> None:
    with pytest.raises(ValueError, match="langauge: is no field of a filter"):
        ask(server.target, "vat?", filter={"langauge": "csharp"})
    assert server.attempts == []


@pytest.mark.parametrize(
    "retrieve",
    [lambda client: for_langchain(client).invoke("vat?"), lambda client: for_llama_index(client).retrieve("vat?")],
    ids=["langchain", "llama_index"],
)
def test_an_asyncio_client_does_not_answer_without_await(
    server: FakeServer, retrieve: Callable[[AsyncGroundwireClient], object]
) -> None:
    async def ask() -> None:
        async with AsyncGroundwireClient(server.target) as client:
            retrieve(client)

    with pytest.raises(TypeError, match="client: an AsyncGroundwireClient answers"):
        asyncio.run(ask())


@pytest.mark.parametrize(
    "options", [{}, {"access": BILLING}, {"filter": {"language": "tsql"}}, {"access": BILLING, "budget_tokens": 200}]
)
def test_a_server_gives_what_it_gives_as_evidence(shop: Server, ask: Ask, options: dict[str, Any]) -> None:
    with GroundwireClient(shop.address) as client:
        evidence = client.evidence(SCOPE, "vat rate", **options)
    retrieved = ask(shop.address, "vat rate", **options)
    assert [(document.id, document.text, document.metadata["citation"]) for document in retrieved] == [
        (text.id, text.text, text.citation) for text in evidence.texts
    ]
    assert retrieved
    assert {document.metadata["index"] for document in retrieved} == {"v1"}
    assert ("shop::main::cs::Tax.Secret" in {document.id for document in retrieved}) <= ("access" in options)


def test_a_chain_of_langchain_takes_the_access_of_each_call(shop: Server) -> None:
    from langchain_core.prompts import PromptTemplate
    from langchain_core.runnables import ConfigurableField, RunnableLambda

    with GroundwireClient(shop.address) as client:
        retriever = for_langchain(client).configurable_fields(access=ConfigurableField(id="access"))
        shown = PromptTemplate.from_template("{citation}: {page_content}")

        def lines(retrieved: list[Document]) -> list[str]:
            return [shown.format(page_content=document.page_content, **document.metadata) for document in retrieved]

        chain = retriever | RunnableLambda(lines)
        public = chain.invoke("vat rate")
        assert "src/Tax.cs:3-9: decimal VatRate()" in public
        assert set(chain.invoke("vat secret", {"configurable": {"access": BILLING}})) - set(public) == {
            "shop::main::cs::Tax.Secret: vat secret"
        }


def test_a_query_engine_of_llama_index_shows_a_model_citation_and_text(shop: Server) -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.schema import MetadataMode

    with GroundwireClient(shop.address) as client:
        retriever = for_llama_index(client, filter={"language": "csharp"})
        response = RetrieverQueryEngine.from_args(retriever, llm=MockLLM()).query("vat rate")
    (source,) = response.source_nodes
    assert source.node.get_content(MetadataMode.LLM) == "citation: src/Tax.cs:3-9\n\ndecimal VatRate()"
    assert source.node.get_content(MetadataMode.EMBED) == "decimal VatRate()"
    assert source.node.get_content(MetadataMode.LLM) in str(response), "the mock repeats its prompt"


def test_the_examples_of_the_page_run(
    shop: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    page = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8").replace("localhost:50051", shop.address)
    names: dict[str, Any] = {"__name__": "page"}
    langchain, access, llama_index, haystack = PYTHON.findall(page)
    exec(langchain + access, names)
    assert capsys.readouterr().out == "src/Tax.cs:3-9 decimal VatRate()\n"
    exec(llama_index, names)
    assert capsys.readouterr().out.startswith("src/Tax.cs:3-9 ")
    exec(haystack, names)
    retrieved = names["GroundwireRetriever"](names["client"], SCOPE).run(query="vat rate")["documents"]
    assert ("decimal VatRate()", {"citation": "src/Tax.cs:3-9"}) in [
        (document.content, document.meta) for document in retrieved
    ]


def test_the_frameworks_are_imported_without_a_network() -> None:
    done = programs.run("import_offline")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
