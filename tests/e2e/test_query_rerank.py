"""A query's `rerank` with a configured model, and the typed error without one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_client import (
    FailedPreconditionError,
    FusionMode,
    GroundwireClient,
    HybridParameters,
    IndexScope,
    NodeFilter,
    Retriever,
)
from support.program import Server, run_ok, write_jsonl

pytestmark = pytest.mark.slow

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TEXTS = [f"zeta {LETTERS[place % 26]} {LETTERS[place // 26] * 4}" for place in range(60)]
SCOPE = IndexScope(repository="shop", branch="main")
QUERY = "zeta"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of sixty texts that all match, each a little less similar than the one before."""
    folder = tmp_path_factory.mktemp("rerank")
    records = [
        {"type": "node", "kind": "md", "local_id": f"T{place:02}", "text": text, "vector": [1.0, place / 100]}
        for place, text in enumerate(TEXTS)
    ]
    source = write_jsonl(folder / "texts.jsonl", records)
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", "none", "--data", folder / "data")
    return folder / "data"


@pytest.fixture(scope="module")
def client(data: Path, cross_encoder: Path) -> Iterator[GroundwireClient]:
    """A client of a server that has the cross-encoder."""
    with (
        Server(data, "--embedder", "none", "--reranker", str(cross_encoder)) as server,
        GroundwireClient(server.address, timeout=300) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def scores(cross_encoder: Path) -> dict[str, float]:
    """What the model says of each text, asked outside the server."""
    from sentence_transformers import CrossEncoder  # here, because it takes seconds to import

    model = CrossEncoder(str(cross_encoder), device="cpu")
    return {
        f"shop::main::md::T{place:02}": float(model.predict([(QUERY, text)])[0]) for place, text in enumerate(TEXTS)
    }


def test_the_model_orders_the_best_fifty(client: GroundwireClient, scores: dict[str, float]) -> None:
    result = client.query(
        SCOPE,
        QUERY,
        hybrid=HybridParameters(top_k=5),
        retrievers=[Retriever.RETRIEVER_DENSE],
        fusion=FusionMode.FUSION_MODE_RRF,
        query_vector=[1.0, 0.0],
        rerank=True,
    )
    window = sorted(scores)[:50]  # the fusion keeps the order of the dense list, which is that of the names
    expected = sorted(window, key=lambda id_: (-scores[id_], id_))[:5]
    assert [match.id for match in result.matches] == expected
    assert expected != window[:5]
    for match in result.matches:
        assert match.scores is not None
        assert match.scores.rerank == pytest.approx(scores[match.id])
        assert match.scores.final == match.scores.rerank
        assert match.scores.fused > 0


def test_more_than_fifty_are_read_when_more_are_asked_for(client: GroundwireClient, scores: dict[str, float]) -> None:
    result = client.query(SCOPE, QUERY, top_k=60, query_vector=[1.0, 0.0], rerank=True)
    assert {match.id for match in result.matches} == set(scores)


def test_without_rerank_there_is_no_rerank_score(client: GroundwireClient) -> None:
    result = client.query(SCOPE, QUERY, top_k=3, query_vector=[1.0, 0.0])
    assert [match.scores.HasField("rerank") for match in result.matches] == [False] * 3


def test_a_server_without_a_model_says_so(data: Path) -> None:
    with (
        Server(data, "--embedder", "none") as server,
        GroundwireClient(server.address, timeout=300) as client,
        pytest.raises(FailedPreconditionError) as caught,
    ):
        client.query(SCOPE, QUERY, query_vector=[1.0, 0.0], rerank=True)
    assert caught.value.reason == "RERANKER_NOT_CONFIGURED"


def test_no_candidates_give_no_matches(client: GroundwireClient) -> None:
    nothing = NodeFilter(path_prefixes=("no/such/path",))
    assert not client.query(SCOPE, QUERY, query_vector=[1.0, 0.0], filter=nothing, rerank=True).matches


def test_a_relevant_text_ranks_above_irrelevant_ones(tmp_path: Path, trained_cross_encoder: Path) -> None:
    texts = ["a b c d", "e f g h", "b d f h", "a c e g", "h a g b", "c d e f"]
    records = [
        {"type": "node", "kind": "md", "local_id": text, "text": text, "vector": [1.0, place / 10]}
        for place, text in enumerate(texts)
    ]
    source = write_jsonl(tmp_path / "texts.jsonl", records)
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", "none", "--data", tmp_path / "data")
    right = 0
    with (
        Server(tmp_path / "data", "--embedder", "none", "--reranker", str(trained_cross_encoder)) as server,
        GroundwireClient(server.address, timeout=300) as reranking,
    ):
        for letter in "abcdefgh":
            result = reranking.query(SCOPE, letter, query_vector=[1.0, 0.0], rerank=True)
            right += letter in result.matches[0].text.split()
    assert right >= 7  # without the model the first text would lead for each letter, which is right for four of them
