"""What a caller may not see has no influence on what it gets, bytes included.

Two servers answer the same requests: one over a whole index, one over the index that never held the nodes hidden
from the caller. The oracle for "hidden" is written here apart from the product's rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import cast

import grpc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.v1 import evidence_pb2, index_pb2, retrieval_pb2, scope_pb2
from groundwire_index.nodes.node import Edge, Location, Node, NodeAccess, content_hash
from groundwire_index.scope import Scope, canonical_id
from groundwire_index.store.manifest import VectorSpace
from groundwire_index.store.store import IndexStore
from groundwire_index.text.code_tokenizer import TOKENIZER_FINGERPRINT, tokenize
from support.index_writing import IndexContent, Lexicon, Tokens, Vectors, write_index
from support.properties import costly
from support.storage import Storage

WORDS = ("invoice", "Tax", "total_amount", "getUser", "x1")
TAGS, LABELS, TENANTS = ("fin", "sec"), ("pii", "gdpr"), ("acme", "umbrella")
EDGE_TYPES = ("Calls", "Zips", "Reads")
NAMES = ("Shop.Class1", "Class2", "class3", "public Class1", "src/1.cs", "0.cs:3", "1.cs:2-5")
RETRIEVAL, QUERIES = "/groundwire.v1.RetrievalService/", "/groundwire.v1.QueryService/"
INDEX = "/groundwire.v1.IndexService/"
_branch_numbers = count()


@dataclass(frozen=True)
class Corpus:
    nodes: tuple[tuple[str, str, NodeAccess, tuple[int, ...]], ...]
    collections: tuple[str, ...]
    deleted: tuple[bool, ...]
    edges: frozenset[tuple[int, int, str]]


@dataclass(frozen=True)
class Caller:
    tenant: str
    tags: frozenset[str]
    labels: frozenset[str]
    level: int
    collections: tuple[str, ...] | None

    def sees(self, access: NodeAccess, collection: str) -> bool:
        return (
            (self.collections is None or collection in self.collections)
            and access.tenant_id in ("", self.tenant)
            and (access.acl_tags == () or any(tag in self.tags for tag in access.acl_tags))
            and all(label in self.labels for label in access.classification_labels)
            and access.clearance_level <= self.level
        )


def subsets(values: tuple[str, ...]) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(values))


accesses = st.builds(
    NodeAccess,
    tenant_id=st.sampled_from(("", "", *TENANTS)),
    acl_tags=subsets(TAGS).map(tuple),
    classification_labels=subsets(LABELS).map(tuple),
    clearance_level=st.sampled_from((0, 0, 1, 3)),
)
callers = st.builds(
    Caller,
    st.sampled_from(("", *TENANTS)),
    subsets(TAGS),
    subsets(LABELS),
    st.integers(min_value=0, max_value=3),
    st.none() | st.sampled_from((("red",), ("red", "blue"), ("absent",), ())),
)
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
# Few distinct vectors, so that ties are common.
vectors = st.tuples(*[st.integers(min_value=-1, max_value=2)] * 3).filter(any)


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    size = draw(st.integers(min_value=1, max_value=12))
    nodes = tuple((f"N{place:02}", draw(texts), draw(accesses), draw(vectors)) for place in range(size))
    places = st.integers(min_value=0, max_value=size - 1)
    edges = draw(st.frozensets(st.tuples(places, places, st.sampled_from(EDGE_TYPES)), max_size=3 * size))
    collections = tuple(draw(st.sampled_from(("red", "red", "blue", ""))) for _ in nodes)
    deleted = tuple(draw(st.sampled_from((False, False, True))) for _ in nodes)
    return Corpus(nodes, collections, deleted, edges)


def publish(storage: Storage, scope: Scope, corpus: Corpus, kept: frozenset[int]) -> None:
    """Writes and activates an index of the corpus's kept nodes and the edges between them."""
    places = sorted(kept)
    nodes = [
        _node(scope, *corpus.nodes[place][:3], corpus.collections[place], corpus.deleted[place]) for place in places
    ]
    ids = {place: node.id for place, node in zip(places, nodes, strict=True)}
    rows = np.asarray([corpus.nodes[place][3] for place in places], dtype=np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    content = IndexContent(
        scope=scope,
        created=datetime(2026, 1, 1, tzinfo=UTC),
        source="test",
        token_counter="words",
        token_counter_fingerprint="words",
        nodes=nodes,
        edges=[Edge(ids[a], ids[b], edge_type) for a, b, edge_type in sorted(corpus.edges) if {a, b} <= kept],
        vectors=Vectors(VectorSpace("", "", 3), rows.astype(np.float32), np.ones(len(rows), dtype=np.bool_)),
        lexicon=Lexicon(code=Tokens(TOKENIZER_FINGERPRINT, [tokenize(node.text) for node in nodes])),
    )
    store = IndexStore(storage.data)
    with store.build(scope) as directory:
        write_index(directory, content)
    store.activate(scope)
    storage.adopt(scope)


def _node(scope: Scope, name: str, text: str, access: NodeAccess, collection: str, deleted: bool) -> Node:
    return Node(
        id=canonical_id(scope, "cs", name),
        kind="cs",
        local_id=name,
        text=text,
        token_count=len(text.split()),
        # Few distinct symbols and files, so that names are often ambiguous.
        location=Location(f"src/{name[-1]}.cs", int(name[1:]) % 3, 5, content_hash(text)),
        access=access,
        symbol=f"Shop.Class{int(name[1:]) % 4}",
        signature=f"{'public' if int(name[1:]) % 2 else 'internal'} class Class{int(name[1:]) % 4}",
        collection_id=collection,
        deleted=deleted,
    )


@pytest.fixture(scope="module")
def channels(whole_and_trimmed: tuple[Storage, Storage]) -> Iterator[tuple[grpc.Channel, grpc.Channel]]:
    """A channel to the server over each storage."""
    whole, trimmed = whole_and_trimmed
    environment = {"GROUNDWIRE_LIFECYCLE_OVERRIDE_ACL_TAGS": "sec"}
    with (
        whole.server("--embedder", "none", environment=environment) as first,
        trimmed.server("--embedder", "none", environment=environment) as second,
        grpc.insecure_channel(first.address) as to_whole,
        grpc.insecure_channel(second.address) as to_trimmed,
    ):
        yield to_whole, to_trimmed


def answer(channel: grpc.Channel, method: str, request: bytes) -> tuple[object, ...]:
    """The serialised response, or the whole error."""
    call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
    try:
        return ("ok", call(request, timeout=300))
    except grpc.RpcError as error:
        failed = cast("grpc.Call", error)
        details = [value for key, value in failed.trailing_metadata() or () if key == "grpc-status-details-bin"]
        return (failed.code(), failed.details(), details)


def requests(scope: Scope, caller: Caller, draw: st.DrawFn, ids: list[str]) -> Iterator[tuple[str, bytes]]:
    """One request of each shape, as method and bytes."""
    access = scope_pb2.AccessContext(
        tenant_id=caller.tenant,
        acl_tags_any=sorted(caller.tags),
        classification_labels_all=sorted(caller.labels),
        clearance_level=caller.level,
        collections=None if caller.collections is None else scope_pb2.Bound(values=caller.collections),
    )
    index = {"scope": scope_pb2.IndexScope(repository=scope.repository, branch=scope.branch), "access": access}
    common = {
        **index,
        "lifecycle": scope_pb2.Lifecycle.Name(draw(st.sampled_from((0, 0, 1, 2, 3)))),
        "filter": draw(st.sampled_from((None, None, scope_pb2.NodeFilter(collection_ids=["red"])))),
    }
    query, vector = draw(st.sampled_from(WORDS)) + " " + draw(texts), draw(vectors)
    for search_type, rerank in ((1, 0), (1, 2), (2, 0), (3, 0)):
        search = retrieval_pb2.SearchNodesRequest(
            **common,
            search_type=retrieval_pb2.SearchType.Name(search_type),
            rerank=retrieval_pb2.Rerank.Name(rerank),
            query=query,
            query_vector=vector if search_type != 2 else (),
            top_k=draw(st.integers(min_value=1, max_value=8)),
            explain=draw(st.booleans()),
        )
        yield f"{RETRIEVAL}SearchNodes", search.SerializeToString()
    named = retrieval_pb2.ResolveNodesRequest(
        **common, names=draw(st.lists(st.sampled_from((*NAMES, *ids)), min_size=1, max_size=3)), max_nodes=8
    )
    yield f"{RETRIEVAL}ResolveNodes", named.SerializeToString()
    lines = retrieval_pb2.SearchTextRequest(
        **common,
        pattern=draw(st.sampled_from((*WORDS, "e", ".*", "^", "[a-f]+ ?"))),
        regex=draw(st.booleans()),
        ignore_case=draw(st.booleans()),
        multiline=draw(st.booleans()),
        max_matches=draw(st.integers(min_value=1, max_value=8)),
        context_lines=draw(st.integers(min_value=0, max_value=2)),
    )
    yield f"{RETRIEVAL}SearchText", lines.SerializeToString()
    seeds = draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4))
    expand = retrieval_pb2.ExpandDependencyTreeRequest(
        **common,
        seed_ids=seeds,
        max_depth=draw(st.integers(min_value=0, max_value=4)),
        max_nodes=draw(st.integers(min_value=1, max_value=8)),
        edge_allowlist=draw(st.sampled_from((["*"], ["calls"], ["Reads", "Zips"]))),
        direction=retrieval_pb2.EdgeDirection.Name(draw(st.integers(min_value=1, max_value=3))),
    )
    yield f"{RETRIEVAL}ExpandDependencyTree", expand.SerializeToString()
    paths = retrieval_pb2.FindPathsRequest(
        **common,
        from_ids=seeds,
        to_ids=draw(st.lists(st.sampled_from(ids), min_size=1, max_size=4)),
        max_hops=draw(st.integers(min_value=1, max_value=6)),
        max_paths=draw(st.integers(min_value=1, max_value=8)),
        max_nodes=draw(st.integers(min_value=1, max_value=8)),
        edge_allowlist=draw(st.sampled_from((["*"], ["calls"], ["Reads", "Zips"]))),
        direction=retrieval_pb2.EdgeDirection.Name(draw(st.integers(min_value=1, max_value=3))),
    )
    yield f"{RETRIEVAL}FindPaths", paths.SerializeToString()
    fetch = retrieval_pb2.FetchNodeTextsRequest(
        **common,
        seed_ids=seeds,
        nodes=[
            retrieval_pb2.ReachedNode(id=id_, depth=1 + place % 3, parent_id=seeds[0])
            for place, id_ in enumerate(dict.fromkeys(draw(st.lists(st.sampled_from(ids), max_size=6))))
        ],
        budget_tokens=draw(st.integers(min_value=1, max_value=20)),
        prioritization_mode=retrieval_pb2.PrioritizationMode.Name(draw(st.integers(min_value=1, max_value=3))),
    )
    yield f"{RETRIEVAL}FetchNodeTexts", fetch.SerializeToString()
    evidence = evidence_pb2.GatherEvidenceRequest(
        **common,
        question=query,
        phrasings=draw(st.lists(st.sampled_from((*NAMES, "how is a total made")), max_size=2)),
        query_vector=vector,
        budget_tokens=draw(st.integers(min_value=200, max_value=400)),
        shown_ids=draw(st.lists(st.sampled_from(ids), max_size=3, unique=True)),
        graph_share=draw(st.sampled_from((0.0, 0.25, 1.0))),
        explain=draw(st.booleans()),
    )
    evidence.now.FromJsonString("2025-06-01T00:00:00Z")
    yield f"{QUERIES}GatherEvidence", evidence.SerializeToString()
    yield f"{INDEX}GetIndex", index_pb2.GetIndexRequest(**index).SerializeToString()
    listing = index_pb2.ListIndexesRequest(repository=scope.repository, branch=scope.branch, access=access)
    yield f"{INDEX}ListIndexes", listing.SerializeToString()


def test_hidden_nodes_change_no_byte(
    whole_and_trimmed: tuple[Storage, Storage], channels: tuple[grpc.Channel, grpc.Channel]
) -> None:
    whole_storage, trimmed_storage = whole_and_trimmed

    # Over the wire an example takes five times what it takes in tests/server/engine, where the same is tested.
    @settings(max_examples=whole_storage.examples(costly().max_examples))
    @given(corpus=corpora(), caller=callers, data=st.data())
    def check(corpus: Corpus, caller: Caller, data: st.DataObject) -> None:
        scope = Scope("shop", f"b{next(_branch_numbers)}", "v1")
        everything = frozenset(range(len(corpus.nodes)))
        visible = frozenset(
            place for place in everything if caller.sees(corpus.nodes[place][2], corpus.collections[place])
        )
        publish(whole_storage, scope, corpus, everything)
        if visible:  # an index that never held a node is no index
            publish(trimmed_storage, scope, corpus, visible)
        ids = [canonical_id(scope, "cs", name) for name in (*(node[0] for node in corpus.nodes), "unknown")]

        @st.composite
        def drawn(draw: st.DrawFn) -> list[tuple[str, bytes]]:
            return list(requests(scope, caller, draw, ids))

        for method, request in data.draw(drawn()):
            whole, trimmed = (answer(channel, method, request) for channel in channels)
            assert whole == trimmed, method
            # To ask for deleted nodes is refused to all but holders of `sec`, whether there are any or not.
            refused = whole[0] is grpc.StatusCode.PERMISSION_DENIED and "sec" not in caller.tags
            assert whole[0] == "ok" or not visible or "Index" in method or refused

    check()
