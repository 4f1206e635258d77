"""Ordinary filters that a parsed query may add, and how they are merged with the caller's (seed 000).

Only what narrows a search has a name here. Access and scope have none: they come from the caller alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields

from groundwire_client import Filter

FILTER_NAMES: Mapping[str, str] = {
    "kind": "kinds",
    "kinds": "kinds",
    "data_type": "data_types",
    "data_types": "data_types",
    "corpus_type": "corpus_types",
    "corpus_types": "corpus_types",
    "language": "languages",
    "languages": "languages",
    "path": "path_prefixes",
    "paths": "path_prefixes",
    "path_prefix": "path_prefixes",
    "path_prefixes": "path_prefixes",
    "collection": "collection_ids",
    "collections": "collection_ids",
    "collection_id": "collection_ids",
    "collection_ids": "collection_ids",
    "document": "document_ids",
    "documents": "document_ids",
    "document_id": "document_ids",
    "document_ids": "document_ids",
}
"""The names that a query may use, and the filter's field that each means."""

CALLER_NAMES = frozenset(
    """
    repository repositories branch branches active_index index access retrieval_filters
    tenant tenant_id acl acl_tag acl_tags acl_tags_any acl_tags_all acl_allow group groups permission permissions owner
    user user_id classification classification_label classification_labels classification_labels_all
    clearance clearance_level doc_level
    """.split()
)
"""Names of scope and access: the caller's values win, so a query's are dropped."""


def merged(base: Filter, added: Filter) -> Filter | None:
    """The filter that admits exactly what both admit; None when no value of some field satisfies both."""
    narrowed: dict[str, tuple[str, ...]] = {}
    for name in (field.name for field in fields(Filter)):
        ours: tuple[str, ...] = getattr(base, name)
        theirs: tuple[str, ...] = getattr(added, name)
        if ours and theirs:
            both = _common_prefixes(ours, theirs) if name == "path_prefixes" else _common(ours, theirs)
            if not both:
                return None
            narrowed[name] = both
        else:
            narrowed[name] = ours or theirs
    return Filter(**narrowed)


def _common(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    return tuple(value for value in dict.fromkeys(ours) if value in theirs)


def _common_prefixes(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """A path has a prefix of each list exactly when it has the longer of two, one of which begins with the other."""
    longer = (
        max(mine, yours, key=len)
        for mine in ours
        for yours in theirs
        if mine.startswith(yours) or yours.startswith(mine)
    )
    return tuple(dict.fromkeys(longer))
