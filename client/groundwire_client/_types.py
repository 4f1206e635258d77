"""Inputs and results of the client: plain immutable values, fields as in `groundwire.v1`."""

from dataclasses import dataclass, replace
from datetime import datetime

from groundwire_client._enums import SearchLeg, SearchPath, SkipReason


@dataclass(frozen=True, slots=True)
class Scope:
    """Where ids are unique: a repository and branch, and optionally one version of its index.

    An empty `active_index` means the version that is active when the server answers.
    """

    repository: str
    branch: str
    active_index: str = ""

    def pinned(self, index: str) -> "Scope":
        """This scope at one index version: `scope.pinned(result.index)` makes the next call read the same snapshot."""
        return replace(self, active_index=index)


@dataclass(frozen=True, slots=True)
class Access:
    """What the caller may see. The default holds nothing and sees public nodes only.

    A node is visible when its tenant is empty or `tenant_id`; it has no ACL tags or one of `acl_tags_any`; all
    its classification labels are among `classification_labels_all`; its level is at most `clearance_level`.
    `collections`, `cases`, `documents` and `workflows` bind besides: a node that has none of the values is hidden, and
    one without a value; None does not bind, and an empty tuple hides every node.
    """

    tenant_id: str = ""
    acl_tags_any: tuple[str, ...] = ()
    classification_labels_all: tuple[str, ...] = ()
    clearance_level: int = 0
    collections: tuple[str, ...] | None = None
    cases: tuple[str, ...] | None = None
    documents: tuple[str, ...] | None = None
    workflows: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class LegScore:
    """A hit's place in one of the lists that made the result: 1-based rank, and the score in that list."""

    leg: SearchLeg
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A selected node: canonical id, score (higher is better, comparable within one result), 1-based rank.

    `legs` and `matched_tokens` (sorted) are filled only for a search with `explain`. `is_test` marks tests,
    `is_generated` what a tool wrote.
    """

    id: str
    score: float
    rank: int
    legs: tuple[LegScore, ...] = ()
    matched_tokens: tuple[str, ...] = ()
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class SearchDebug:
    """How a search was done; every figure is of what the caller may see.

    `path` is None when there was no semantic list. `visible_count` counts the nodes that the caller may see and
    that pass the filter. `rrf_k` is 0 when nothing was fused.
    """

    path: SearchPath | None
    filtered: bool
    visible_count: int
    semantic_candidates: int
    bm25_candidates: int
    query_tokens: tuple[str, ...]
    rrf_k: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits, best first, and the index version that answered.

    `exact` is False when an approximate index proposed the candidates. `debug` is None without `explain`.
    """

    hits: tuple[Hit, ...]
    index: str
    exact: bool
    debug: SearchDebug | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """The hits' ids, best first: the seeds of an expansion or a fetch."""
        return tuple(hit.id for hit in self.hits)


@dataclass(frozen=True, slots=True)
class Location:
    """Where a text stands: path with forward slashes (empty when unknown), 1-based inclusive lines (0 when unknown).

    `content_hash` is the lower-case hexadecimal SHA-256 of the UTF-8 text.
    """

    path: str
    start_line: int
    end_line: int
    content_hash: str


@dataclass(frozen=True, slots=True)
class NodeText:
    """A whole source text, exactly as ingested; `token_count` as the server's counter counts it.

    `depth` is 0 and `parent_id` empty for a seed. `symbol` is the qualified name, empty when there is none. `is_test`
    marks tests, `is_generated` what a tool wrote.
    """

    id: str
    text: str
    is_seed: bool
    depth: int
    parent_id: str
    token_count: int
    location: Location
    symbol: str
    is_test: bool = False
    is_generated: bool = False


@dataclass(frozen=True, slots=True)
class SkippedNode:
    """A requested id without a text, and why."""

    id: str
    reason: SkipReason


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The texts that fit, in priority order, and every requested id without one.

    `used_tokens` and `used_chars` (Unicode code points) are sums over `texts`.
    """

    texts: tuple[NodeText, ...]
    skipped: tuple[SkippedNode, ...]
    used_tokens: int
    used_chars: int
    index: str


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """An index version as far as the caller may see it; the counts are of visible nodes and edges.

    `create_time` is in UTC. `embedder`, `embedder_fingerprint` are empty and `dimension` is 0 when the index has
    no vectors; a vector index that brought its own has a dimension only. `lexical`: BM25 search is possible.
    """

    repository: str
    branch: str
    version: str
    active: bool
    create_time: datetime
    source: str
    node_count: int
    edge_count: int
    embedder: str
    embedder_fingerprint: str
    dimension: int
    lexical: bool
    token_counter: str
