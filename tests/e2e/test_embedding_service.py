"""A service that embeds: a build and the real server ask it, and say so when it fails or changes."""

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_client import (
    FailedPreconditionError,
    GroundwireClient,
    IndexScope,
    Retriever,
    SearchType,
    UnavailableError,
    ids,
)
from support.embedding_service import embeds
from support.forked_program import ForkedProgram
from support.program import Server, run, run_ok, start, write_jsonl
from support.rerank_service import Asked, Reply, RerankService, rerank_service

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
TEXTS = ["the order is refunded", "a customer signs in", "the price of a basket"]
TOKEN = {"GROUNDWIRE_EMBEDDER_TOKEN": "tok-3n"}
WORDS = SearchType.SEARCH_TYPE_BM25
MEANING = SearchType.SEARCH_TYPE_SEMANTIC


@pytest.fixture(scope="module")
def service() -> Iterator[RerankService]:
    with rerank_service(embeds) as running:
        yield running


@pytest.fixture(scope="module")
def embedder(service: RerankService) -> str:
    return f"{service.url}/v1/embeddings#model=own&dimensions=32"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = [
        {"type": "node", "kind": "md", "local_id": f"T{number}", "text": text} for number, text in enumerate(TEXTS)
    ]
    return write_jsonl(tmp_path_factory.mktemp("service") / "texts.jsonl", records)


@pytest.fixture(scope="module")
def server(source: Path, embedder: str, service: RerankService) -> Iterator[Server]:
    data = source.with_name("data")
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", embedder, "--data", data, environment=TOKEN)
    assert {request.headers["Authorization"] for request in service.requests} == {"Bearer tok-3n"}
    with Server(data, "--embedder", embedder, environment=TOKEN) as running:
        yield running
        assert running.terminate() == 0


@pytest.fixture
def client(server: Server, service: RerankService) -> Iterator[GroundwireClient]:
    service.answer = embeds
    with GroundwireClient(server.address, timeout=300) as connected:
        yield connected


def test_texts_and_queries_meet_in_the_space_of_the_service(client: GroundwireClient) -> None:
    response = client.search(SCOPE, "who refunded the order", search_type=MEANING)
    assert ids(response)[0] == "shop::main::md::T0"
    answer = client.query(SCOPE, "where does a customer sign in", retrievers=[Retriever.RETRIEVER_DENSE])
    assert answer.matches[0].id == "shop::main::md::T1"
    assert answer.meta.routing.embedder == "own"


def test_words_are_searched_while_the_service_is_away(client: GroundwireClient, service: RerankService) -> None:
    service.answer = lambda _: Reply(b"", 503)
    with pytest.raises(UnavailableError) as caught:
        client.search(SCOPE, "a query of its own", search_type=MEANING)
    assert caught.value.reason == "EMBEDDER_UNAVAILABLE"
    assert "try again later, send query_vector, or search by words (BM25)" in str(caught.value)
    assert ids(client.search(SCOPE, "basket", search_type=WORDS)) == ["shop::main::md::T2"]


def test_nothing_is_embedded_twice(source: Path, embedder: str, service: RerankService, server: Server) -> None:
    service.answer = embeds
    before = len(service.requests)
    arguments = ("-r", "shop", "-b", "main", "--embedder", embedder, "--data", source.with_name("data"))
    more = write_jsonl(
        source.with_name("more.jsonl"), [{"type": "node", "kind": "md", "local_id": "T3", "text": "new"}]
    )
    source.with_name("both.jsonl").write_bytes(source.read_bytes() + more.read_bytes())
    run_ok("index", source.with_name("both.jsonl"), *arguments, "--no-activate", environment=TOKEN)
    sent = [text for request in service.requests[before:] for text in request.body["input"]]
    assert "new" in sent
    assert not {*sent} & {*TEXTS}


def test_a_build_that_is_killed_goes_on_where_it_stopped(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(64 * 10)]
    nodes = [{"type": "node", "kind": "md", "local_id": f"T{row:03}", "text": text} for row, text in enumerate(texts)]
    source = write_jsonl(tmp_path / "texts.jsonl", nodes)
    started: list[subprocess.Popen[str] | ForkedProgram] = []

    def killing(request: Asked) -> Reply:
        if texts[64 * 8] in request.body["input"]:
            started[0].kill()
        return embeds(request)

    with rerank_service(killing) as service:
        name = f"{service.url}/v1/embeddings#model=own"
        index = ("index", source, "-r", "shop", "-b", "main", "--embedder", name, "--data", tmp_path / "data")
        started.append(start(*index))
        assert started[0].stdout is not None
        assert started[0].stderr is not None
        with started[0].stdout, started[0].stderr:
            assert started[0].wait(60) == -signal.SIGKILL
        service.answer = embeds
        run_ok(*index)
        times_sent = Counter(text for request in service.requests for text in request.body["input"])
    # The ninth request is sent when the vectors of the fourth are kept.
    assert {text: times_sent[text] for text in texts[: 64 * 4]} == dict.fromkeys(texts[: 64 * 4], 1)
    assert set(texts) <= times_sent.keys()


def test_a_model_that_has_changed_is_refused(source: Path, embedder: str, service: RerankService) -> None:
    service.answer = lambda request: embeds(request, salt="another")
    with (
        Server(source.with_name("data"), "--embedder", embedder, environment=TOKEN) as server,
        GroundwireClient(server.address, timeout=300) as client,
        pytest.raises(FailedPreconditionError) as caught,
    ):
        client.search(SCOPE, "who refunded the order", search_type=MEANING)
    assert caught.value.reason == "EMBEDDER_MISMATCH"


def test_a_build_does_not_mix_two_models(source: Path, embedder: str, service: RerankService, server: Server) -> None:
    service.answer = lambda request: embeds(request, salt="another")
    more = write_jsonl(source.with_name("other.jsonl"), [{"type": "node", "kind": "md", "local_id": "T9", "text": "x"}])
    data = source.with_name("data")
    done = run("index", more, "-r", "shop", "-b", "main", "--embedder", embedder, "--data", data, environment=TOKEN)
    assert done.returncode == 1
    assert "the model 'own' of the service has changed behind its name" in done.stderr


def test_texts_with_access_rules_leave_only_when_that_is_confirmed(tmp_path: Path) -> None:
    """The host is no loopback address; nothing is sent to it before the question is answered."""
    node = {"type": "node", "kind": "md", "local_id": "T", "text": "of the board", "acl_tags": ["board"]}
    source = write_jsonl(tmp_path / "texts.jsonl", [node])
    url = "https://embed.invalid/v1/embeddings#model=own"
    result = run("index", source, "-r", "shop", "-b", "main", "--embedder", url, "--data", tmp_path / "data")
    assert result.returncode == 1
    assert "has access rules, and its text would be sent to embed.invalid" in result.stderr
    assert "--send-texts-to embed.invalid" in result.stderr
