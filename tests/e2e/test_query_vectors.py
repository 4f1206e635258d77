"""No caller learns from a server's memory of query vectors what callers who hold something else have asked."""

from collections.abc import Iterator

import grpc
import pytest

from groundwire.v1 import query_pb2, query_pb2_grpc, scope_pb2
from groundwire_server.query_embedding.query_vectors import MAX_VECTORS
from support.builds import RECORDS, build
from support.program import Server
from support.scrapes import Scrape, scrape
from support.tiny_bert import write_tiny_bert
from support.workers import events

LOOK_UPS = "groundwire_query_vector_look_ups_total"
ACME = scope_pb2.AccessContext(tenant_id="acme", acl_tags_any=["fin"])
OTHERS = [
    scope_pb2.AccessContext(tenant_id="umbrella", acl_tags_any=["fin"]),
    scope_pb2.AccessContext(tenant_id="acme"),
    scope_pb2.AccessContext(tenant_id="acme", acl_tags_any=["fin"], classification_labels_all=["pii"]),
    scope_pb2.AccessContext(tenant_id="acme", acl_tags_any=["fin"], clearance_level=1),
]


class Asked:
    """A server over an index whose queries it embeds, and what its metrics tell of the vectors it remembered."""

    def __init__(self, server: Server, stub: query_pb2_grpc.QueryServiceStub) -> None:
        (listening,) = events(server, "listening")
        self._metrics, self._stub = str(listening["metrics_address"]), stub

    def ask(self, query: str, access: scope_pb2.AccessContext) -> query_pb2.QueryResponse:
        scope = scope_pb2.IndexScope(repository="shop", branch="main")
        request = query_pb2.QueryRequest(
            scope=scope, query=query, access=access, hybrid=query_pb2.HybridParameters(min_sim=0)
        )
        return self._stub.Query(request, timeout=300)

    def knew(self, query: str, access: scope_pb2.AccessContext) -> bool:
        """Whether the server remembered the vector of the query that is asked now."""
        before = self._scrape().value(LOOK_UPS, known="true")
        self.ask(query, access)
        return self._scrape().value(LOOK_UPS, known="true") > before

    def _scrape(self) -> Scrape:
        return scrape(self._metrics)


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    from groundwire_ingest.embedding.own_model import OwnModel  # here, because it takes seconds to import

    folder = tmp_path_factory.mktemp("query-vectors")
    model = str(write_tiny_bert(folder))
    build(folder / "data", RECORDS, embedder=OwnModel(model))
    environment = {"GROUNDWIRE_METRICS_LISTEN": "127.0.0.1:0"}
    with (
        Server(folder / "data", "--embedder", model, environment=environment) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        yield Asked(server, query_pb2_grpc.QueryServiceStub(channel))


def test_who_holds_anything_else_finds_no_vector_of_what_another_asked(asking: Asked) -> None:
    assert not asking.knew("a secret merger", ACME)
    assert asking.knew("a secret merger", ACME)
    assert [asking.knew("a secret merger", other) for other in OTHERS] == [False] * len(OTHERS)


def test_who_fills_a_share_of_the_memory_drives_out_nobody_elses(asking: Asked) -> None:
    asking.ask("an invoice", ACME)
    for number in range(MAX_VECTORS + 1):
        asking.ask(f"filling {number}", OTHERS[0])
    assert asking.knew("an invoice", ACME)
    assert not asking.knew("filling 0", OTHERS[0])


def test_what_is_answered_does_not_depend_on_what_was_remembered(asking: Asked) -> None:
    answers = [asking.ask("who pays an invoice", access) for access in (ACME, ACME, OTHERS[0])]
    for answer in answers:
        for field in ("took_ms", "now"):
            answer.meta.ClearField(field)
    assert len({answer.SerializeToString() for answer in answers}) == 1
