"""A language model behind HTTP that puts questions into the words of code: what it gets, and what its answers do."""

import json
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from groundwire.v1 import evidence_pb2, query_pb2_grpc
from groundwire.v1.scope_pb2 import IndexScope
from groundwire_ingest.records import StatedAccess
from support.builds import V1, build, node
from support.program import Server
from support.refusals import FAILED, UNAVAILABLE, Row, check_refused
from support.rerank_service import Asked, Reply, RerankService, rerank_service

SCOPE = IndexScope(repository="shop", branch="main")
SECRET = "decimal SecretMargin() => 0.42m;"


def says(text: object, status: int = 200) -> Reply:
    """A reply of a model."""
    return Reply(json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode(), status)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index without vectors, of a public node and one that hardly anybody sees."""
    folder = tmp_path_factory.mktemp("phrased")
    records = [
        node("Tax.Rate", "decimal VatRate(string country)", path="src/Tax.cs", access=StatedAccess(acl_tags=())),
        node("Tax.Secret", SECRET, path="src/Secret.cs", access=StatedAccess(acl_tags=("finance",))),
    ]
    build(folder, records, V1)
    return folder


@pytest.fixture(scope="module")
def model() -> Iterator[RerankService]:
    with rerank_service(lambda _: says("")) as running:
        yield running


@pytest.fixture(scope="module")
def channel(data: Path, model: RerankService) -> Iterator[grpc.Channel]:
    """A channel to a server with that model."""
    environment = {"GROUNDWIRE_PHRASING": f"{model.url}#model=small", "GROUNDWIRE_PHRASING_TOKEN": "tok"}
    with (
        Server(data, "--embedder", "none", environment=environment) as server,
        grpc.insecure_channel(server.address) as channel,
    ):
        yield channel


def request(**fields: object) -> evidence_pb2.GatherEvidenceRequest:
    common = {"scope": SCOPE, "question": "what does the state get?", "budget_tokens": 1_000, "phrase": True}
    return evidence_pb2.GatherEvidenceRequest(**{**common, **fields})


def test_the_model_gets_the_question_and_its_lines_are_searched(channel: grpc.Channel, model: RerankService) -> None:
    model.requests.clear()
    model.answer = lambda _: says("1. value added tax of a country\n- `VatRate`\nand a third line")
    stub = query_pb2_grpc.QueryServiceStub(channel)
    assert not stub.GatherEvidence(request(phrase=False), timeout=300).passages
    assert model.requests == []
    response = stub.GatherEvidence(request(phrasings=["what a country takes"]), timeout=300)
    assert list(response.phrasings) == ["what a country takes", "value added tax of a country", "VatRate"]
    assert [passage.id for passage in response.passages] == ["shop::main::cs::Tax.Rate"]
    (model_request,) = model.requests
    assert model_request.body["model"] == "small"
    assert model_request.body["messages"][-1] == {"role": "user", "content": "Question: what does the state get?"}
    assert model_request.headers["Authorization"] == "Bearer tok"
    assert SECRET not in json.dumps(model_request.body)
    assert "VatRate" not in json.dumps(model_request.body)
    again = stub.GatherEvidence(request(phrase=False, phrasings=response.phrasings), timeout=300)
    assert again.SerializeToString() == response.SerializeToString()


@pytest.mark.parametrize(
    "reply",
    [
        says("\n \n"),
        says(None),
        says("x", 500),
        Reply(b"not JSON"),
        Reply(b'{"choices": []}'),
        Reply(b"{}" * 200_000),
        Reply(b"", 302, {"Location": "http://127.0.0.1:1/elsewhere"}),
    ],
    ids=["blank", "null", "500", "no JSON", "no choice", "too long", "a redirect"],
)
def test_a_model_that_fails_ends_the_call(channel: grpc.Channel, model: RerankService, reply: Reply) -> None:
    def answer(_: Asked) -> Reply:
        return reply

    model.answer = answer
    stub = query_pb2_grpc.QueryServiceStub(channel)
    check_refused(Row("the model fails", request(), UNAVAILABLE, "PHRASING_UNAVAILABLE"), stub.GatherEvidence)


def test_a_server_without_a_model_says_so(data: Path) -> None:
    with Server(data, "--embedder", "none") as server, grpc.insecure_channel(server.address) as channel:
        stub = query_pb2_grpc.QueryServiceStub(channel)
        check_refused(Row("no model", request(), FAILED, "PHRASING_NOT_CONFIGURED"), stub.GatherEvidence)
