"""What a caller may not see has no part in the choice of what embeds its queries.

Two servers answer the same requests: one over an index with hidden nodes whose texts the model's int8 encoder gets
wrong, one over an index that never held them. Both are built as `groundwire index` builds them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest

from groundwire.v1 import query_pb2, query_pb2_grpc, retrieval_pb2, retrieval_pb2_grpc, scope_pb2
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_ingest.embedding.convert import LEAST_COSINE, convert
from groundwire_ingest.records import SourceRecord, StatedAccess
from support.builds import V1, Records, build, index_of, node
from support.platform import timeless, timestamp
from support.storage import NewStorage
from support.tiny_bert import write_tiny_bert

if TYPE_CHECKING:
    from groundwire_ingest.embedding.own_model import OwnModel

STRAYING = "7m"
"""A text that the model's int8 encoder gives another direction than the model does."""
VISIBLE: list[SourceRecord] = [
    node(name, text, access=StatedAccess(acl_tags=()))
    for name, text in (("A", "load a user by id"), ("B", "pay an invoice"), ("C", "draw a red circle"))
]
HIDDEN: list[SourceRecord] = [
    node(f"H{number}", STRAYING, access=StatedAccess(acl_tags=("vault",))) for number in range(5)
]
SCOPE = scope_pb2.IndexScope(repository="shop", branch="main")
QUERIES = ["who pays", "user", "circle of 7 ids"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> "OwnModel":
    """A model from which int8 strays for a few texts alone."""
    from groundwire_ingest.embedding.own_model import OwnModel  # here, because it takes seconds to import

    return OwnModel(str(write_tiny_bert(tmp_path_factory.mktemp("tiny"), seed=6, spread=0.7)))


@pytest.fixture(scope="module")
def channels(
    new_storage: NewStorage, tmp_path_factory: pytest.TempPathFactory, model: "OwnModel"
) -> Iterator[tuple[grpc.Channel, grpc.Channel]]:
    """A channel to the server over the whole index, and one to that over the index of the visible nodes."""
    folder = tmp_path_factory.mktemp("encoders")
    whole, trimmed = new_storage(folder / "whole"), new_storage(folder / "trimmed")
    whole.build(Records([*VISIBLE, *HIDDEN]), V1, embedder=model)
    trimmed.build(Records(VISIBLE), V1, embedder=model)
    with (
        whole.server("--embedder", model.name) as first,
        trimmed.server("--embedder", model.name) as second,
        grpc.insecure_channel(first.address) as to_whole,
        grpc.insecure_channel(second.address) as to_trimmed,
    ):
        yield to_whole, to_trimmed


def test_the_hidden_texts_are_such_as_an_encoder_would_be_turned_down_for(tmp_path: Path, model: "OwnModel") -> None:
    encoder = convert(EncoderStore(tmp_path), model)
    assert encoder is not None
    assert encoder.embed_query(STRAYING) @ model.embed_query(STRAYING) < LEAST_COSINE
    build(tmp_path / "hidden", HIDDEN, embedder=model)
    space = index_of(tmp_path / "hidden").manifest.vector_space
    assert space is not None
    assert space.query_encoder is not None


@pytest.mark.parametrize(
    "search_type", [retrieval_pb2.SEARCH_TYPE_SEMANTIC, retrieval_pb2.SEARCH_TYPE_HYBRID], ids=["semantic", "hybrid"]
)
def test_hidden_texts_change_no_byte_of_a_search(
    channels: Sequence[grpc.Channel], search_type: retrieval_pb2.SearchType.ValueType
) -> None:
    for query in QUERIES:
        request = retrieval_pb2.SearchNodesRequest(
            scope=SCOPE, search_type=search_type, query=query, top_k=5, rrf_k=60, explain=True
        )
        stubs = [retrieval_pb2_grpc.RetrievalServiceStub(channel) for channel in channels]
        whole, trimmed = (stub.SearchNodes(request, timeout=300) for stub in stubs)
        assert len(whole.hits) == len(VISIBLE)
        assert whole.SerializeToString(deterministic=True) == trimmed.SerializeToString(deterministic=True)


def test_hidden_texts_change_no_byte_of_a_query(channels: Sequence[grpc.Channel]) -> None:
    for query in QUERIES:
        request = query_pb2.QueryRequest(
            scope=SCOPE,
            query=query,
            hybrid=query_pb2.HybridParameters(min_sim=0),
            now=timestamp("2026-01-01T00:00:00Z"),
            include_neighbors=True,
        )
        stubs = [query_pb2_grpc.QueryServiceStub(channel) for channel in channels]
        whole, trimmed = (stub.Query(request, timeout=300) for stub in stubs)
        assert len(whole.matches) == len(VISIBLE)
        assert timeless(whole) == timeless(trimmed)
