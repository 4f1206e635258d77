"""SearchNodes: what is asked and what is answered."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from types import MappingProxyType
from typing import Final

from groundwire.kind_names import kinds_of, languages_of
from groundwire_index.nodes.node import Location, MetadataScalar
from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import ANY_SCOPE, Scopes
from groundwire_server.domain.access.lifecycle import Lifecycle
from groundwire_server.domain.errors import FieldViolation

DEFAULT_RRF_K = 60


class SearchType(Enum):
    """How nodes are looked for."""

    SEMANTIC = "semantic"
    BM25 = "bm25"
    HYBRID = "hybrid"


class Rerank(Enum):
    """How the candidates of a semantic search are reordered."""

    NONE = "none"
    KEYWORD = "keyword_rerank"
    CODEBERT = "codebert_rerank"


class Retriever(Enum):
    """A list of candidates."""

    DENSE = "dense"
    """Cosine similarity of embeddings, in [-1, 1]."""
    BM25_CODE = "bm25_code"
    """BM25 over code tokens, above 0."""
    BM25_PROSE = "bm25_prose"
    """BM25 over prose tokens, above 0."""
    TRIGRAM = "trigram"
    """Trigram similarity of the query's names to a node's, in (0, 1]."""


LEXICAL_RETRIEVERS = tuple(retriever for retriever in Retriever if retriever is not Retriever.DENSE)
"""The retrievers that read words and names."""


class SearchPath(Enum):
    """How the semantic list was made."""

    EXACT = "exact"
    APPROXIMATE = "approximate"


@dataclass(frozen=True, slots=True)
class MetadataCondition:
    """A node's metadata has `key` with one of `values`, or a list that holds one of them. 1 and 1.0 are equal.

    No node meets a condition without values.
    """

    key: str
    values: tuple[MetadataScalar, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """Ordinary filters: values of one field are alternatives, fields must all hold, empty does not filter.

    A boolean keeps the nodes that are, or are not, what its field is named for; None does not filter. Every condition
    of `metadata` must hold.
    """

    kinds: tuple[str, ...] = ()
    data_types: tuple[str, ...] = ()
    corpus_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    path_prefixes: tuple[str, ...] = ()
    collection_ids: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    service_names: tuple[str, ...] = ()
    repo_names: tuple[str, ...] = ()
    tenant_ids: tuple[str, ...] = ()
    case_ids: tuple[str, ...] = ()
    document_version_ids: tuple[str, ...] = ()
    is_latest: bool | None = None
    metadata: tuple[MetadataCondition, ...] = ()
    is_test: bool | None = None
    is_generated: bool | None = None

    @property
    def narrows(self) -> bool:
        """True when at least one field filters."""
        return self != NO_FILTER

    @property
    def with_other_names(self) -> "Filter":
        """The same with kinds under the names of their languages too, and languages under those of their kinds."""
        if not self.kinds and not self.languages:
            return self
        return replace(self, kinds=kinds_of(self.kinds), languages=languages_of(self.languages))


NO_FILTER: Final = Filter()
FILTERED_STRINGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "kinds": "kind",
        "data_types": "data_type",
        "corpus_types": "corpus_type",
        "languages": "language",
        "collection_ids": "collection_id",
        "document_ids": "document_id",
        "service_names": "service_name",
        "repo_names": "repo_name",
        "case_ids": "case_id",
        "document_version_ids": "document_version_id",
    }
)
"""The fields of a filter that compare a string of a node as a whole, with the node's field."""
FILTERED_FLAGS: Final = ("is_latest", "is_test", "is_generated")
"""The fields of a filter that compare the flag of a node of the same name."""
FILTERED_LISTS: Final = tuple(
    filter_field.name for filter_field in fields(Filter) if filter_field.name not in (*FILTERED_FLAGS, "metadata")
)
"""The fields of a filter that list strings."""


@dataclass(frozen=True, slots=True)
class NodesRequest:
    """The common part of all requests for nodes: those that do not pass `filter` and `lifecycle` are as if absent.

    With `scopes`, which may be patterns, several versions are asked instead of that of `scope`. A pattern means what
    matches it in `granted`. `broken` are the rules that the message broke, such as by an unknown value of an enum: they
    are told with those that the request breaks.
    """

    scope: Scope
    access: AccessContext
    scopes: tuple[Scope, ...] = field(default=(), kw_only=True)
    granted: Scopes = field(default=ANY_SCOPE, kw_only=True)
    filter: Filter = field(default=NO_FILTER, kw_only=True)
    lifecycle: Lifecycle = field(default=Lifecycle.ACTIVE, kw_only=True)
    broken: tuple[FieldViolation, ...] = field(default=(), kw_only=True)

    @property
    def extent(self) -> tuple[int, ...]:
        """The numbers that the work of answering grows with, such as lengths and limits."""
        return ()

    @property
    def choices(self) -> tuple[Hashable, ...]:
        """What else decides how long answering takes, such as the retrievers that are asked."""
        return ()


@dataclass(frozen=True, slots=True)
class SearchRequest(NodesRequest):
    """A search for nodes, as the caller asked it; `search_type` None means what the index has data for.

    `query_vector` has the index's dimension and any length but zero; empty means that the backend embeds `query`.
    """

    search_type: SearchType | None
    query: str
    top_k: int
    query_vector: tuple[float, ...] = ()
    rrf_k: int = DEFAULT_RRF_K
    rerank: Rerank = Rerank.NONE
    explain: bool = False

    @property
    def extent(self) -> tuple[int, ...]:
        """The length of the query, and how many hits are asked for."""
        return len(self.query), self.top_k

    @property
    def choices(self) -> tuple[Hashable, ...]:
        """What is searched, and what is done with the hits."""
        return self.search_type, bool(self.query_vector), self.rerank, self.explain


@dataclass(frozen=True, slots=True)
class RetrieverScore:
    """A hit's 1-based rank and score in the list of one retriever."""

    retriever: Retriever
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class NodeLabel:
    """The fields of a hit, or of a node on a path, that describe the node; see `Node`."""

    id: str
    symbol: str
    location: Location
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """The kind of a node, and the signature of its symbol; see `Node`."""

    kind: str
    signature: str


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A selected node, its score (higher is better) and its 1-based rank.

    `retrievers` and `matched_tokens` are filled only for a search that asked to be explained.
    """

    label: NodeLabel
    score: float
    rank: int
    retrievers: tuple[RetrieverScore, ...] = ()
    matched_tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A retriever that a version has no data for."""

    scope: Scope
    retriever: Retriever


@dataclass(frozen=True, slots=True)
class SearchDebug:
    """How a search was done; every figure is of what the caller may see."""

    path: SearchPath | None
    filtered: bool
    visible_count: int
    semantic_candidates: int
    bm25_candidates: int
    query_tokens: tuple[str, ...]
    rrf_k: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, the index version that answered, the type used, and whether the semantic list was exact.

    `scopes` are the versions that answered a request for several, where `index` is "". `left_out` is what they had no
    data for.
    """

    hits: tuple[SearchHit, ...]
    index: str
    search_type: SearchType
    exact: bool = True
    debug: SearchDebug | None = None
    scopes: tuple[Scope, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
