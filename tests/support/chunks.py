"""Corpora of chunks for property tests: few distinct values, so that ties, twins and shared documents abound.

No product of two vectors sums more than two terms, and those of one size: brute force gives the same bits.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from groundwire_index.nodes.node import CONTAINS, Edge, JsonValue, Node, NodeAccess
from groundwire_index.scope import Scope
from groundwire_server.backends.embedded.backend import EmbeddedBackend
from groundwire_server.domain.access.access import AccessContext, may_see
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.search.search import Filter, MetadataCondition, Retriever
from groundwire_server.query_embedding.query_vectors import unit_vector
from support.filter_oracle import passes
from support.listed_candidates import Asked

SCOPE = Scope("shop", "main", "v1")

Vector = tuple[float, ...]
MakeNode = Callable[..., Node]
OpenBackend = Callable[..., AbstractContextManager[EmbeddedBackend]]

TEXTS = ["", "getUser", "tax", "getUser tax", "tax tax id", "invoices of users", "users get invoices"]
VECTORS: list[Vector] = [(1, 0, 0), (0, 1, 0), (1, 1, 0), (-1, 1, 0), (-1, 0, 0)]
SYMBOLS = ["", "Users.getUser", "Users.getUserById", "Tax", "setUser"]
PATHS = ["", "src/users.py", "src/tax.py", "db/users.sql"]
NAMES = ["", "a", "b", "ä"]
METADATA: list[dict[str, JsonValue]] = [
    {},
    {"process": "billing"},
    {"process": ["billing", 1, None], "n": True},
    {"n": 1},
    {"n": 1.0, "process": {"billing": 1}},
    {"n": [2.5, [1]], "process": "true"},
]
TIMESTAMPS = [None, datetime(2025, 1, 1, 10, tzinfo=UTC), datetime(2024, 2, 29, 1, 2, 3, 456, tzinfo=UTC)]

ACCESSES = [
    *[NodeAccess()] * 6,
    NodeAccess(acl_tags=("a",)),
    NodeAccess(acl_tags=("a", "b")),
    NodeAccess(tenant_id="t"),
    NodeAccess(classification_labels=("x", "y")),
    NodeAccess(clearance_level=2),
]
callers = st.sampled_from(
    [
        AccessContext(),
        AccessContext(),
        AccessContext(acl_tags_any=frozenset("b")),
        AccessContext(tenant_id="t", classification_labels_all=frozenset("x")),
        AccessContext("t", frozenset("ab"), frozenset("xy"), 2),
    ]
)


@dataclass(frozen=True)
class Corpus:
    """Nodes sorted by id, edges between them, and vectors by node id."""

    nodes: list[Node]
    edges: list[Edge] = field(default_factory=list)
    vectors: dict[str, Vector | None] = field(default_factory=dict)

    def of(self, nodes: list[Node]) -> "Corpus":
        """Some of the nodes, and the edges between them."""
        ids = {node.id for node in nodes}
        return Corpus(nodes, [edge for edge in self.edges if {edge.from_id, edge.to_id} <= ids], self.vectors)

    def seen_by(self, caller: AccessContext) -> "Corpus":
        """What the caller may see, deleted or not."""
        return self.of([node for node in self.nodes if may_see(node.access, caller)])

    def passing(self, filter_: Filter) -> "Corpus":
        """What passes a filter."""
        return self.of([node for node in self.nodes if passes(node, filter_)])

    def alive(self, lifecycle: Lifecycle) -> "Corpus":
        """What a question about one lifecycle is about."""
        return self.of(
            [node for node in self.nodes if lifecycle is Lifecycle.ALL or node.deleted is DELETED[lifecycle]]
        )


DELETED = {Lifecycle.ACTIVE: False, Lifecycle.DELETED: True}


@st.composite
def corpora(draw: st.DrawFn, make_node: MakeNode) -> Corpus:
    """One to sixteen nodes with every kind of column, and edges between them; at least one node is public.

    There are 32 corpora, so that a module's tests can share the indexes of them: to write one takes far longer than to
    ask it.
    """
    number, size = draw(st.integers(0, 7)), draw(st.sampled_from([16, 8, 4, 1]))
    chance = Random(100 * size + number)
    nodes = [_node(chance, make_node, f"N{row:02}") for row in range(size)]
    nodes[-1] = replace(nodes[-1], access=NodeAccess())
    ends = [(a.id, b.id, edge_type) for a in nodes for b in nodes for edge_type in (CONTAINS, "Calls", "FK")]
    edges = [Edge(*ends) for ends in chance.sample(ends, min(len(ends), 4 * len(nodes)))]
    return Corpus(nodes, edges, {node.id: chance.choice([*VECTORS, None]) for node in nodes})


def _node(chance: Random, make_node: MakeNode, local_id: str) -> Node:
    return make_node(
        local_id,
        chance.choice(TEXTS),
        access=chance.choice(ACCESSES),
        path=chance.choice(PATHS),
        start_line=chance.randint(1, 3),
        symbol=chance.choice(SYMBOLS),
        language=chance.choice(NAMES),
        data_type=chance.choice(NAMES),
        corpus_type=chance.choice(["", "CODE_LOGIC", "CONVO_SLACK"]),
        collection_id=chance.choice(NAMES),
        case_id=chance.choice(NAMES),
        document_id=chance.choice(["", "a", "a", "b"]),
        document_version_id=chance.choice(["", "", "", "1"]),
        chunk_index=chance.randint(0, 2),
        is_latest=chance.choice([False, True]),
        deleted=chance.choice([False, False, True]),
        is_test=chance.choice([False, True]),
        is_generated=chance.choice([False, True]),
        service_name=chance.choice(NAMES),
        repo_name=chance.choice(["shop", "shop", "shop", "b"]),
        timestamp=chance.choice(TIMESTAMPS),
        metadata=chance.choice(METADATA),
    )


_names = st.lists(st.sampled_from(["a", "b", "ä", "absent"]), max_size=2).map(tuple)
_conditions = st.builds(
    MetadataCondition,
    key=st.sampled_from(["process", "n", "absent"]),
    values=st.lists(st.sampled_from(["billing", "true", 1, 1.0, 2.5, True, None]), min_size=1, max_size=2).map(tuple),
)
_fields = {
    "kinds": st.sampled_from([(), ("cs",), ("sql", "cs"), ("sql",)]),
    "data_types": _names,
    "corpus_types": st.sampled_from([(), ("CODE_LOGIC",), ("CONVO_SLACK", "CODE_LOGIC")]),
    "languages": _names,
    "path_prefixes": st.sampled_from([(), ("src/",), ("db/", "src/t"), ("none",), ("",)]),
    "collection_ids": _names,
    "document_ids": _names,
    "service_names": _names,
    "repo_names": st.sampled_from([(), ("shop",), ("b", "shop")]),
    "tenant_ids": st.sampled_from([(), ("t",), ("", "u"), ("t", "")]),
    "case_ids": _names,
    "document_version_ids": st.sampled_from([(), ("1",), ("", "2")]),
    "is_latest": st.sampled_from([None, True, False]),
    "is_test": st.sampled_from([None, True, False]),
    "is_generated": st.sampled_from([None, True, False]),
    "metadata": st.lists(_conditions, max_size=2).map(tuple),
}


@st.composite
def filters(draw: st.DrawFn, most_fields: int = 2) -> Filter:
    """A filter of a few fields; with all of them at once hardly a node would pass."""
    chosen = draw(st.sets(st.sampled_from(sorted(_fields)), max_size=most_fields))
    values: dict[str, Any] = {field: draw(_fields[field]) for field in sorted(chosen)}
    return Filter(**values)


candidate_searches = st.builds(
    Asked,
    query=st.sampled_from(["getUser", "Users.getUsrById", "tax", "users and invoices", "set_user() tax tax id", "the"]),
    query_vector=st.sampled_from([unit_vector(np.asarray(vector)) for vector in VECTORS[:4]]),
    retrievers=st.just(frozenset()) | st.frozensets(st.sampled_from(Retriever)),
    dense_limit=st.integers(1, 5),
    lexical_limit=st.integers(1, 5),
    min_similarity=st.sampled_from([None, 0.0, 0.15, 0.5, 0.9]),
    trigram_threshold=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    filter=st.just(Filter()) | filters(most_fields=1),
    scores_files=st.booleans(),
)


@contextmanager
def serving(corpus: Corpus, open_backend: OpenBackend) -> Iterator[EmbeddedBackend]:
    """A backend over one version, SCOPE, with this content."""
    vectors = [corpus.vectors.get(node.id) for node in corpus.nodes]
    with open_backend(corpus.nodes, corpus.edges, vectors) as backend:
        yield backend
