"""The vector of a query: the caller's own, remembered, or embedded by what the index names."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from groundwire_index.embedding.embedder import Embedder, EmbedderError
from groundwire_index.store.manifest import VectorSpace
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.errors import PreconditionError, Reason
from groundwire_server.query_embedding.deferred import DeferredEmbedder
from support.builds import HashEmbedder
from support.calls import PlainCall, done
from support.engines import query_vectors_of

SPACE = VectorSpace("hash", "hash-1", 4)


class Counting(HashEmbedder):
    """Notes what it embeds."""

    def __init__(self) -> None:
        self.embedded: list[str] = []

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.embedded.append(text)
        return super().embed_query(text)


PUBLIC = AccessContext()


def test_a_query_is_embedded_once() -> None:
    embedder = Counting()
    vectors = query_vectors_of([embedder])
    first = done(vectors.vector("user", (), PUBLIC, SPACE, "v1", PlainCall()))
    assert done(vectors.vector("user", (), PUBLIC, SPACE, "v2", PlainCall())).tobytes() == first.tobytes()
    assert (
        done(query_vectors_of([HashEmbedder()]).vector("user", (), PUBLIC, SPACE, "v1", PlainCall())).tobytes()
        == first.tobytes()
    )
    assert first.dtype == np.float64
    assert np.linalg.norm(first) == pytest.approx(1)
    assert embedder.embedded == ["user"]


def test_a_vector_is_that_of_the_model_that_the_index_was_made_with() -> None:
    """A service may have another model behind the same name, which the vectors of fixed texts tell."""
    embedder = Counting()
    vectors = query_vectors_of([embedder])
    for probes in (("old",), ("new",), ("old",)):
        done(vectors.vector("user", (), PUBLIC, replace(SPACE, probes=probes), "v1", PlainCall()))
    assert embedder.embedded == ["user", "user"]


def test_a_vector_of_another_length_is_a_failed_precondition() -> None:
    with pytest.raises(PreconditionError) as caught:
        done(query_vectors_of([Counting()]).vector("user", (), PUBLIC, replace(SPACE, dimension=5), "v1", PlainCall()))
    assert caught.value.reason is Reason.EMBEDDER_MISMATCH


@pytest.mark.parametrize(
    "other",
    [
        AccessContext(tenant_id="umbrella"),
        AccessContext(tenant_id="acme", acl_tags_any=frozenset({"fin"})),
        AccessContext(tenant_id="acme", classification_labels_all=frozenset({"pii"})),
        AccessContext(tenant_id="acme", clearance_level=1),
    ],
)
def test_who_holds_anything_else_finds_no_vector_of_what_another_asked(other: AccessContext) -> None:
    embedder = Counting()
    vectors = query_vectors_of([embedder])
    for access in (AccessContext(tenant_id="acme"), other, AccessContext(tenant_id="acme")):
        done(vectors.vector("user", (), access, SPACE, "v1", PlainCall()))
    assert embedder.embedded == ["user", "user"]


def test_a_vector_of_the_callers_own_is_not_looked_up() -> None:
    embedder = Counting()
    vectors = query_vectors_of([embedder])
    assert done(vectors.vector("user", (0, 3, 0, 4), PUBLIC, SPACE, "v1", PlainCall())).tolist() == [0, 0.6, 0, 0.8]
    assert embedder.embedded == []


def test_a_model_that_cannot_be_loaded_is_a_failed_precondition(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: str) -> Embedder:
        raise EmbedderError("no such model")

    vectors = query_vectors_of([DeferredEmbedder("hash", "hash-1", 4, fail)])
    with pytest.raises(PreconditionError) as caught:
        done(vectors.vector("user", (), PUBLIC, SPACE, "v1", PlainCall()))
    assert caught.value.reason is Reason.EMBEDDER_MISMATCH
    assert "no such model" in caplog.text
