"""What the server says of fields of a request, said of the options of commands."""

import re
from collections.abc import Mapping

from groundwire.v1.scope_pb2 import AccessContext, Bound

_OPTIONS: Mapping[str, str] = {
    "access.acl_tags_any": "--acl-tag",
    "access.classification_labels_all": "--label",
    "access.clearance_level": "--clearance",
    "access.tenant_id": "--tenant",
    "diversify_strength": "--diversify",
    "explain": "--explain",
    "context_lines": "--context",
    "edge_allowlist": "--edge-type",
    "filter.collection_ids": "--collection",
    "filter.corpus_types": "--corpus-type",
    "filter.data_types": "--data-type",
    "filter.document_ids": "--document",
    "filter.kinds": "--kind",
    "filter.languages": "--language",
    "filter.metadata": "--filter",
    "filter.path_prefixes": "--path",
    "filter.repo_names": "--repo",
    "filter.service_names": "--service",
    "filter.is_generated": "--generated",
    "filter.is_latest": "--filter is_latest",
    "filter.is_test": "--tests",
    "freshness_half_life_days": "--half-life",
    "freshness_weight": "--freshness",
    "from_ids": "--from",
    "max_depth": "--depth",
    "pattern": "PATTERN",
    "phrasings": "--phrasing",
    "prioritization_mode": "--mode",
    "retrievers": "--retriever",
    "scope.active_index": "--index",
    "scope.branch": "--branch",
    "scope.repository": "--repository",
    "scopes": "--repository and --branch",
    "search_type": "--type",
    "shown_ids": "--shown",
    "to_ids": "--to",
}
"""The options of fields that are named otherwise, or in several commands."""
_SAME_NAME = frozenset(
    """alpha budget_tokens direction doc_class fusion graph_share lex_limit lifecycle max_candidates max_chars max_hops
    max_matches max_nodes max_paths min_confidence min_sim now phrase process rerank rrf_k top_k trgm_limit vec_limit
    workflow_id""".split()
)
"""The fields whose options have the same name, with hyphens."""
_POSITION = re.compile(r"\[\d+\]")
_OF_SCOPES = re.compile(r"^scopes\.")
_GROUP = "hybrid."
_BOUNDS = tuple(
    f"access.{field.name}" for field in AccessContext.DESCRIPTOR.fields if field.message_type is Bound.DESCRIPTOR
)

CURES: Mapping[str, str] = {
    "EMBEDDER_MISMATCH": "start the server with `groundwire serve --embedder` and the model of the index, or search by "
    "words: `search --type bm25`, `query --retriever bm25_code`",
    "LEXICAL_MISSING": "search by meaning: `search --type semantic`, `query --retriever dense`",
    "LIFECYCLE_NOT_GRANTED": "leave out --lifecycle, or give an --acl-tag or token that is granted it",
    "PHRASING_NOT_CONFIGURED": "give --phrasing instead of --phrase",
    "RERANKER_NOT_CONFIGURED": "leave out --rerank, or start the server with `groundwire serve --reranker`",
    "SOURCES_MISSING": "search by words: `search --type bm25`, `query --retriever bm25_code`",
    "VECTORS_MISSING": "search by words: `search --type bm25`, `query --retriever bm25_code`",
}
"""What to do at the command line about an error, by its reason."""


OPTION_FIELDS = frozenset((*_OPTIONS, *_SAME_NAME))
"""The fields that have an option; those of HybridParameters without the name of the message."""


def option_of(field: str) -> str:
    """The option that sets a field of a request; the field where no option does."""
    name = _OF_SCOPES.sub("scope.", _POSITION.sub("", field)).removeprefix(_GROUP)
    if name.startswith("filter.metadata."):
        return f"--filter {name.removeprefix('filter.metadata.')}"
    if name.startswith(_BOUNDS):
        return f"--bind {name.removeprefix('access.')}"
    return f"--{name.replace('_', '-')}" if name in _SAME_NAME else _OPTIONS.get(name, field)
