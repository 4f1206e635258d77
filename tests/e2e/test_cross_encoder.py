"""`codebert_rerank` with a configured model: a real cross-encoder process behind the wire."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_client import GroundwireClient, IndexScope, Rerank, SearchType
from support.program import Server, run_ok, write_jsonl

pytestmark = pytest.mark.slow

TEXTS = ["alpha beta", "gamma delta", "zeta", "omega kappa", "query terms here", "another text", "beta", "delta zeta"]
SCOPE = IndexScope(repository="shop", branch="main")
QUERY = "find the omega"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, cross_encoder: Path) -> Iterator[GroundwireClient]:
    """A client of a server that has the cross-encoder."""
    folder = tmp_path_factory.mktemp("rerank")
    records = [
        {"type": "node", "kind": "md", "local_id": f"T{place}", "text": text, "vector": [1.0, place / 10]}
        for place, text in enumerate(TEXTS)
    ]
    source = write_jsonl(folder / "texts.jsonl", records)
    data = folder / "data"
    run_ok("index", source, "-r", "shop", "-b", "main", "--embedder", "none", "--data", data)
    with (
        Server(data, "--embedder", "none", "--reranker", str(cross_encoder)) as server,
        GroundwireClient(server.address, timeout=300) as client,
    ):
        yield client


def test_the_model_decides_the_order_among_the_widened_candidates(
    client: GroundwireClient, cross_encoder: Path
) -> None:
    from sentence_transformers import CrossEncoder  # here, because it takes seconds to import

    result = client.search(
        SCOPE,
        QUERY,
        search_type=SearchType.SEARCH_TYPE_SEMANTIC,
        query_vector=[1.0, 0.0],
        top_k=1,
        rerank=Rerank.RERANK_CODEBERT,
    )
    candidates = TEXTS[:6]  # top_k times 6, in the order of similarity
    model = CrossEncoder(str(cross_encoder), device="cpu")
    scores = [float(model.predict([(QUERY, text)])[0]) for text in candidates]
    best = max(range(len(candidates)), key=scores.__getitem__)
    assert [hit.id for hit in result.hits] == [f"shop::main::md::T{best}"]
    assert result.hits[0].score == pytest.approx(scores[best])
    assert best != 0
