"""A service behind HTTP that reranks, asked by the real server: for queries and for searches, and when it fails."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_client import (
    AccessContext,
    GroundwireClient,
    IndexScope,
    Rerank,
    Retriever,
    SearchType,
    UnavailableError,
    ids,
)
from support.program import Server, run_ok, write_jsonl
from support.rerank_service import Asked, Reply, RerankService, by_length, rerank_service

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
TEXTS = ["zeta", "zeta eta", "zeta eta theta", "zeta secret of the board"]
TOKEN = "tok-3n"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four texts, the shorter the more similar; the last is the board's alone."""
    folder = tmp_path_factory.mktemp("rerank")
    records = [
        {
            "type": "node",
            "kind": "md",
            "local_id": f"T{place}",
            "text": text,
            "vector": [1.0, place / 10],
            "acl_tags": ["board"] if "board" in text else [],
        }
        for place, text in enumerate(TEXTS)
    ]
    source = write_jsonl(folder / "texts.jsonl", records)
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", "none", "--data", folder / "data")
    return folder / "data"


@pytest.fixture(scope="module")
def service() -> Iterator[RerankService]:
    with rerank_service() as running:
        yield running


@pytest.fixture(scope="module")
def server(data: Path, service: RerankService) -> Iterator[Server]:
    environment = {"GROUNDWIRE_RERANKER_TOKEN": TOKEN}
    with Server(
        data, "--embedder", "none", "--reranker", f"{service.url}#seconds=1", environment=environment
    ) as running:
        yield running
        assert running.terminate() == 0


@pytest.fixture
def client(server: Server, service: RerankService) -> Iterator[GroundwireClient]:
    service.answer = by_length
    service.requests.clear()
    with GroundwireClient(server.address, timeout=300) as connected:
        yield connected


def test_a_query_and_a_search_are_ordered_by_it_and_it_is_sent_what_the_caller_sees(
    client: GroundwireClient, service: RerankService
) -> None:
    queried = client.query(SCOPE, "zeta", query_vector=[1.0, 0.0], retrievers=[Retriever.RETRIEVER_DENSE], rerank=True)
    searched = client.search(
        SCOPE,
        "zeta",
        search_type=SearchType.SEARCH_TYPE_SEMANTIC,
        query_vector=[1.0, 0.0],
        top_k=3,
        rerank=Rerank.RERANK_CODEBERT,
    )
    best_first = [f"shop::main::md::T{place}" for place in (2, 1, 0)]
    assert [match.id for match in queried.matches] == best_first
    assert ids(searched) == best_first
    assert [hit.score for hit in searched.hits] == [0.014, 0.008, 0.004]
    assert [request.body["documents"] for request in service.requests] == [TEXTS[:3], TEXTS[:3]]
    assert {request.headers["Authorization"] for request in service.requests} == {f"Bearer {TOKEN}"}


def test_who_sees_more_has_more_sent(client: GroundwireClient, service: RerankService) -> None:
    board = AccessContext(acl_tags_any=("board",))
    response = client.query(
        SCOPE, "zeta", query_vector=[1.0, 0.0], retrievers=[Retriever.RETRIEVER_DENSE], rerank=True, access=board
    )
    assert response.matches[0].id == "shop::main::md::T3"
    assert [request.body["documents"] for request in service.requests] == [TEXTS]


@pytest.mark.parametrize(
    "reply",
    [Reply(b"{}", 503), Reply(b'{"results": []}'), Reply(b" " * 10_000, drips=True)],
    ids=["refused", "no scores", "endless"],
)
def test_what_cannot_be_reranked_is_not_answered(
    client: GroundwireClient, server: Server, service: RerankService, reply: Reply
) -> None:
    def answer(_: Asked) -> Reply:
        return reply

    service.answer = answer
    with pytest.raises(UnavailableError) as caught:
        client.query(SCOPE, "zeta of the log", query_vector=[1.0, 0.0], rerank=True)
    assert caught.value.reason == "RERANKER_UNAVAILABLE"
    service.answer = by_length
    assert client.query(SCOPE, "zeta", query_vector=[1.0, 0.0], rerank=True).matches
    log = "".join(server.log)
    assert not [word for word in (TOKEN, "theta", "zeta of the log") if word in log]
