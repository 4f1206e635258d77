"""A real embedding server, which a build and a server ask while it is limited, slow, killed and restarted."""

import itertools
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_client import DeadlineExceededError, GroundwireClient, IndexScope, SearchType, UnavailableError, ids
from support.infinity import Infinity
from support.program import Server, run, write_jsonl
from support.rerank_service import Asked, Reply, RerankService, rerank_service

pytestmark = pytest.mark.slow

SCOPE = IndexScope(repository="shop", branch="main")
MEANING = SearchType.SEARCH_TYPE_SEMANTIC
WORDS = """
order refund basket customer invoice tax parcel address login password token price discount stock shelf truck warehouse
mail letter picture video sound colour font button window mouse printer cable router switch garden tree river mountain
""".split()
COUNT = 600


@pytest.fixture(scope="module")
def infinity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Infinity]:
    server = Infinity(tmp_path_factory.mktemp("infinity"))
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def front(infinity: Infinity) -> Iterator[RerankService]:
    """The service that Groundwire knows. It passes requests on, unless a test says otherwise."""
    with rerank_service(infinity.answer) as running:
        yield running


@pytest.fixture(scope="module")
def texts() -> list[str]:
    draw = random.Random(5)
    return [" ".join(draw.sample(WORDS, 8)) for _ in range(COUNT)]


@pytest.fixture(scope="module")
def embedder(front: RerankService) -> str:
    return f"{front.url}/v1/embeddings#model=minilm"


@pytest.fixture(scope="module")
def given() -> Counter[str]:
    """How often the build was given the vector of each text."""
    return Counter()


@pytest.fixture(scope="module")
def data(
    infinity: Infinity,
    front: RerankService,
    texts: list[str],
    embedder: str,
    given: Counter[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """An index, from a build during which the rate was limited and Infinity was killed and started again."""
    numbers = itertools.count(1)

    def limited(request: Asked) -> Reply:
        number = next(numbers)
        if number in (3, 6):
            return Reply(b"", 429, {"Retry-After": "1"})
        if number == 8:
            infinity.kill()
            infinity.start()
        reply = infinity.answer(request)
        if reply.status == 200:
            given.update(request.body["input"])
        return reply

    folder = tmp_path_factory.mktemp("shop")
    nodes = [{"type": "node", "kind": "md", "local_id": f"T{row}", "text": text} for row, text in enumerate(texts)]
    source = write_jsonl(folder / "texts.jsonl", nodes)
    front.answer = limited
    # A build that waits for an hour: Infinity starts again during a request, which can take longer than the limit.
    patient = f"{embedder}&seconds=3600"
    done = run("index", source, "-r", "shop", "-b", "main", "--embedder", patient, "--data", folder / "data")
    front.answer = infinity.answer
    assert done.returncode == 0, done.stderr
    assert "HTTP status 429; the next try is in 1 s" in done.stderr
    assert "HTTP status 502; the next try is in" in done.stderr
    return folder / "data"


@pytest.fixture(scope="module")
def client(data: Path, embedder: str) -> Iterator[GroundwireClient]:
    with Server(data, "--embedder", embedder) as server, GroundwireClient(server.address, timeout=300) as connected:
        yield connected


def test_a_build_gets_the_vector_of_each_text_once(data: Path, given: Counter[str], texts: list[str]) -> None:
    assert {text: given[text] for text in texts} == dict.fromkeys(texts, 1)


def test_matches_are_those_of_its_vectors(client: GroundwireClient, infinity: Infinity, texts: list[str]) -> None:
    query = "money back for a parcel that did not arrive"
    stored, query_vector = _vectors(infinity, texts), _vectors(infinity, [query])[0]
    expected = [f"shop::main::md::T{row}" for row in np.argsort(-(stored @ query_vector))[:10]]
    assert ids(client.search(SCOPE, query, search_type=MEANING, top_k=10)) == expected


def test_a_slow_service_does_not_hold_a_call_beyond_its_deadline(
    client: GroundwireClient, front: RerankService, infinity: Infinity
) -> None:
    released = threading.Event()

    def slow(request: Asked) -> Reply:
        released.wait(300.0)
        return infinity.answer(request)

    front.answer = slow
    with pytest.raises(DeadlineExceededError):
        client.search(SCOPE, "a query that is slow", search_type=MEANING, timeout=1.0)
    released.set()
    front.answer = infinity.answer


def test_words_are_searched_while_it_is_away_and_meanings_once_it_is_back(
    client: GroundwireClient, infinity: Infinity
) -> None:
    infinity.kill()
    for number in range(4):  # after three failures in a row it is left alone for a while
        with pytest.raises(UnavailableError) as caught:
            client.search(SCOPE, f"a query {number} without an answer", search_type=MEANING)
        assert caught.value.reason == "EMBEDDER_UNAVAILABLE"
    assert ids(client.search(SCOPE, "basket", search_type=SearchType.SEARCH_TYPE_BM25))
    infinity.start()
    end = time.monotonic() + 300.0
    while True:
        try:
            assert ids(client.search(SCOPE, "a query with an answer", search_type=MEANING))
            return
        except UnavailableError:
            assert time.monotonic() < end
            time.sleep(0.5)


def _vectors(infinity: Infinity, texts: list[str]) -> NDArray[np.float64]:
    vectors = []
    for start in range(0, len(texts), 64):
        reply = infinity.answer(Asked("", {}, {"model": "minilm", "input": texts[start : start + 64]}, 0))
        vectors += [item["embedding"] for item in json.loads(reply.body)["data"]]
    return np.array(vectors)
