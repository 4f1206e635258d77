"""A server for the actions and one for queries; the program itself makes their indexes, from JSONL with vectors."""

from collections.abc import Iterator
from functools import partial

import grpc
import pytest

from groundwire.v1 import index_pb2_grpc, query_pb2_grpc, retrieval_pb2_grpc
from groundwire_index.scope import Scope
from groundwire_ingest.jsonl.jsonl import JsonlSource
from support.embedding_service import VectorsFromService, embeds
from support.jsonl import edge, node
from support.platform import Platform
from support.platform_corpus import AUDITOR_TAG, BULK, COLLECTIONS, PLATFORM, REDEFINITIONS, REFUNDS
from support.program import Server, write_jsonl
from support.rerank_service import RerankService, rerank_service
from support.storage import NewStorage, Storage

SHOP = [
    node("Invoice.Create", "class InvoiceService { void CreateInvoice() { } }", [1.0, 0.0, 0.0, 0.0],
         path="src/InvoiceService.cs", start_line=3, end_line=9, symbol="InvoiceService.Create", language="csharp",
         data_type="regular_code", corpus_type="CODE_LOGIC"),
    node("Invoice.Total", "decimal TotalOf(Invoice invoice) => invoice.Lines.Sum();", [0.8, 0.6, 0.0, 0.0],
         path="src/Totals.cs", language="csharp", data_type="regular_code", is_test=True),
    node("Tax.Rate", "decimal TaxRate(string country) => rates[country];", [0.0, 1.0, 0.0, 0.0],
         path="src/Tax.cs", language="csharp", data_type="regular_code"),
    node("dbo.Invoice_Create|PROC", "CREATE PROCEDURE dbo.Invoice_Create AS INSERT INTO dbo.Invoice DEFAULT VALUES",
         [0.6, 0.0, 0.8, 0.0], kind="sql", path="db/Invoice_Create.sql", language="tsql", data_type="db_code"),
    node("dbo.Invoice|TABLE", "CREATE TABLE dbo.Invoice (Id int)", [0.0, 0.0, 1.0, 0.0], kind="sql",
         path="db/Invoice.sql", language="tsql", data_type="db_code", is_generated=True),
    node("Secret.Margin", "decimal InvoiceMargin() => 0.42m; // invoice invoice invoice", [1.0, 0.0, 0.0, 0.0],
         acl_tags=["finance"], path="src/Margin.cs", language="csharp", data_type="regular_code"),
    node("Tenant.Only", "class AcmeInvoice { }", [1.0, 0.0, 0.0, 0.0], tenant_id="acme", path="src/Acme.cs"),
    edge("cs::Invoice.Create", "sql::dbo.Invoice_Create|PROC", "Executes", line=5),
    edge("cs::Invoice.Create", "cs::Invoice.Total", "Calls", confidence=0.8, line=6),
    edge("cs::Invoice.Total", "cs::Secret.Margin", "Calls"),
    edge("cs::Secret.Margin", "cs::Tax.Rate", "Calls"),
    edge("sql::dbo.Invoice_Create|PROC", "sql::dbo.Invoice|TABLE", "WritesTo"),
]  # fmt: skip


@pytest.fixture(scope="session")
def vector_service() -> Iterator[RerankService]:
    """The service that gives indexes of the param `service` their vectors."""
    with rerank_service(embeds) as running:
        yield running


_KINDS = ["embedded", *(pytest.param(name, marks=pytest.mark.slow) for name in ("milvus", "service"))]


@pytest.fixture(scope="session", params=_KINDS)
def new_storage(request: pytest.FixtureRequest) -> NewStorage:
    """As for all tests, and folders whose indexes have their vectors from a service."""
    if request.param == "service":
        return partial(VectorsFromService, service=request.getfixturevalue("vector_service"))
    return request.getfixturevalue("storage_in_milvus") if request.param == "milvus" else Storage


@pytest.fixture(scope="session")
def shop(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """`shop main` (two versions, one deleted), `shop texts` without vectors, `shop vault` all hidden."""
    folder = tmp_path_factory.mktemp("contract")
    shop = new_storage(folder / "data")
    retrievers = {
        "main": write_jsonl(folder / "main.jsonl", SHOP),
        "texts": write_jsonl(
            folder / "texts.jsonl", [{k: v for k, v in record.items() if k != "vector"} for record in SHOP]
        ),
        "vault": write_jsonl(
            folder / "vault.jsonl", [node("Key", "class Key { }", [1.0, 0, 0, 0], acl_tags=["vault"])]
        ),
    }
    common = ("--repository", "shop", "--embedder", "none")
    for version in ("gone", "old", "v1"):
        shop.run_ok("index", retrievers["main"], "--branch", "main", "--version", version, *common)
    shop.run_ok("delete", "gone", "--repository", "shop", "--branch", "main")
    for branch in ("texts", "vault"):
        shop.run_ok("index", retrievers[branch], "--branch", branch, "--version", "v1", *common)
    return shop


@pytest.fixture(scope="session", params=["1", pytest.param("2", marks=pytest.mark.slow)], ids=["alone", "workers"])
def server(shop: Storage, request: pytest.FixtureRequest) -> Iterator[Server]:
    """A server without models, which admits administration: one process, then two workers."""
    with shop.server("--embedder", "none", "--allow-admin", "--workers", request.param) as server:
        yield server


@pytest.fixture(scope="session")
def channel(server: Server) -> Iterator[grpc.Channel]:
    """A channel to the server."""
    with grpc.insecure_channel(server.address) as channel:
        yield channel


@pytest.fixture(scope="session")
def retrieval(channel: grpc.Channel) -> retrieval_pb2_grpc.RetrievalServiceStub:
    """The retrieval service."""
    return retrieval_pb2_grpc.RetrievalServiceStub(channel)


@pytest.fixture(scope="session")
def indexes(channel: grpc.Channel) -> index_pb2_grpc.IndexServiceStub:
    """The index service."""
    return index_pb2_grpc.IndexServiceStub(channel)


@pytest.fixture(scope="session")
def platform_storage(new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory) -> Storage:
    """The scopes of the platform.

    `platform main`; `platform plain`, the same without vectors; `platform bulk` of large texts; `platform ranking`;
    `platform redefined`; `platform collections` of two collections.
    """
    folder = tmp_path_factory.mktemp("platform")
    storage = new_storage(folder / "data")
    plain = [{name: value for name, value in record.items() if name != "vector"} for record in PLATFORM]
    branches = {"main": PLATFORM, "plain": plain, "bulk": BULK, "ranking": REFUNDS, "redefined": REDEFINITIONS}
    for branch, records in branches.items():
        source = write_jsonl(folder / f"{branch}.jsonl", records)
        where = ("--repository", "platform", "--branch", branch, "--version", "v1")
        storage.run_ok("index", source, *where, "--embedder", "none")
    collections = JsonlSource(write_jsonl(folder / "collections.jsonl", COLLECTIONS))
    storage.build(collections, Scope("platform", "collections", "v1"))
    return storage


ROUTING = """
rules:
  - name: refunds
    when: {process: billing, doc_class: [manual, form]}
    collections: [policies, forms]
    parameters: {top_k: 2, min_sim: 0.5}
  - name: ranks
    when: {workflow_id: w-ranks}
    fusion: rrf
  - name: dense
    when: {workflow_id: w-dense}
    parameters: {alpha: 0.875}
  - name: frozen
    when: {process: audit, repository: platform, branch: main}
    index: v0
"""
"""What the server over the platform routes by."""


@pytest.fixture(scope="session")
def platform_server(platform_storage: Storage) -> Iterator[Server]:
    """A server without models, at which auditors may query deleted nodes; it routes by `ROUTING`."""
    routing = platform_storage.data.with_name("routing.yaml")
    routing.write_text(ROUTING)
    environment = {"GROUNDWIRE_LIFECYCLE_OVERRIDE_ACL_TAGS": AUDITOR_TAG, "GROUNDWIRE_ROUTING": str(routing)}
    with platform_storage.server("--embedder", "none", environment=environment) as server:
        yield server


@pytest.fixture(scope="session")
def platform(platform_server: Server) -> Iterator[Platform]:
    """The query service over the platform."""
    with grpc.insecure_channel(platform_server.address) as channel:
        yield Platform(query_pb2_grpc.QueryServiceStub(channel))
