"""The choices of requests and responses. Values are the lower-case names that the CLI and `--json` use.

Enums that only occur in responses end in `UNKNOWN`, which stands for a value that a server newer than this
client sent: an answer stays usable although one explanatory value of it has no name here. Those that occur in requests
as well have no such member; where a response holds a value without a name, the result's field is None.
"""

from enum import StrEnum


class SearchType(StrEnum):
    """How nodes are looked for."""

    SEMANTIC = "semantic"
    """Cosine similarity of embeddings."""
    BM25 = "bm25"
    """BM25 over code-aware tokens."""
    HYBRID = "hybrid"
    """Both, fused by reciprocal rank."""


class Rerank(StrEnum):
    """What reorders the candidates of a semantic search."""

    NONE = "none"
    """The order of the search stands."""
    KEYWORD = "keyword_rerank"
    """Blends similarity with the share of the query's tokens that a candidate's text holds."""
    CODEBERT = "codebert_rerank"
    """The reranker of the server's configuration reads query and text together; it must have one."""


class SearchLeg(StrEnum):
    """Which list a hit's score came from."""

    SEMANTIC = "semantic"
    """Cosine similarity, in [-1, 1]."""
    BM25 = "bm25"
    """BM25 score, above 0."""
    RERANK = "rerank"
    """The score the reranker gave."""
    UNKNOWN = "unknown"


class SearchPath(StrEnum):
    """How the semantic list was made."""

    EXACT = "exact"
    """Every visible node that passes the filter was compared with the query."""
    APPROXIMATE = "approximate"
    """An approximate index proposed the candidates."""
    UNKNOWN = "unknown"


class Direction(StrEnum):
    """Which way edges are followed."""

    OUTGOING = "outgoing"
    """From a node to what it depends on."""
    INCOMING = "incoming"
    """From a node to what depends on it."""
    BOTH = "both"


class PrioritizationMode(StrEnum):
    """In which order nodes compete for the budget of a fetch."""

    SEED_FIRST = "seed_first"
    """Seeds in their order, then graph nodes by depth and id."""
    GRAPH_FIRST = "graph_first"
    """Each seed followed by the nodes whose parent chain leads to it; nodes with no such chain last."""
    BALANCED = "balanced"
    """First seed, first graph node, second seed, second graph node, and so on."""


class SkipReason(StrEnum):
    """Why a text was left out."""

    OVER_BUDGET = "over_budget"
    """It does not fit what was left of the budget."""
    UNAVAILABLE = "unavailable"
    """There is no such node, or the caller may not see it: the two look the same."""
    RESPONSE_LIMIT = "response_limit"
    """It fits the budget, of which it has taken its part, but not one response (4 MiB): ask for it in another call."""
    UNKNOWN = "unknown"


class Source(StrEnum):
    """What proposes the candidates of a query."""

    DENSE = "dense"
    """Cosine similarity of embeddings."""
    BM25_CODE = "bm25_code"
    """BM25 over code tokens: identifiers whole and in parts."""
    BM25_NLP = "bm25_nlp"
    """BM25 over prose tokens: words and the words inside identifiers, stemmed."""
    TRIGRAM = "trigram"
    """Trigram similarity of names, so that one with a typo is found."""


class FusionMode(StrEnum):
    """How the lists of a query's sources become one."""

    ADAPTIVE = "adaptive"
    """A weighted sum of normalised scores; what the query looks like chooses the weights."""
    RRF = "rrf"
    """Reciprocal rank: the sum over the lists of 1 / (rrf_k + rank)."""
    WEIGHTED = "weighted"
    """A weighted sum of normalised scores: `alpha` for the dense source, the rest shared by the others."""


class Visibility(StrEnum):
    """Which nodes a call is about. Anything but ACTIVE needs the server's leave."""

    ACTIVE = "active"
    """What the source has not deleted."""
    ALL = "all"
    """Deleted nodes as well."""
    DELETED = "deleted"
    """Deleted nodes alone."""


class QueryClass(StrEnum):
    """What a query looks like."""

    IDENTIFIER = "identifier"
    """Names from code and nothing else."""
    QUOTED = "quoted"
    """All of it stands in quotation marks."""
    PATH = "path"
    """A path or a file name."""
    NATURAL_LANGUAGE = "natural_language"
    """Words."""
    MIXED = "mixed"
    """Words with names, paths or quotations among them."""
    UNKNOWN = "unknown"
