"""The filters that a parsed query may add, how they are merged with the caller's, and described to a router.

Only filters that narrow a search have a name here. AccessContext and scope have none: they come from the caller alone.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from groundwire_client import MetadataScalar, MetadataValue, NodeFilter, metadata_of, node_filter

FLAG_FIELDS: Final = ("is_latest", "is_test", "is_generated")
"""The fields of a filter that hold a boolean or None."""
_TEXT_FIELDS: Final = tuple(field.name for field in NodeFilter.DESCRIPTOR.fields if field.is_repeated)

FILTER_NAMES: Mapping[str, str] = {
    name: field
    for field, names in {
        "kinds": "kind kinds",
        "data_types": "data_type data_types",
        "corpus_types": "corpus_type corpus_types",
        "languages": "language languages",
        "path_prefixes": "path paths path_prefix path_prefixes",
        "collection_ids": "collection collections collection_id collection_ids",
        "document_ids": "document documents document_id document_ids",
        "document_version_ids": "document_version document_versions document_version_id document_version_ids",
        "service_names": "service services service_name service_names",
        "repo_names": "repo repos repo_name repo_names",
        "case_ids": "case cases case_id case_ids",
        "is_latest": "latest is_latest",
        "is_test": "test tests is_test",
        "is_generated": "generated is_generated",
    }.items()
    for name in names.split()
}
"""The names that a query may use, and the filter's field that each means."""

_KNOWABLE: Final = frozenset({"kinds", "languages", "path_prefixes", "is_test", "is_generated"})
"""The fields whose values a router may know: the index names them, or the question does."""
_MOST_VALUES: Final = 40

CALLER_NAMES = frozenset(
    """
    repository repositories branch branches active_index index access retrieval_filters
    tenant tenants tenant_id tenant_ids acl acl_tag acl_tags acl_tags_any acl_tags_all acl_allow
    group groups permission permissions owner user user_id
    classification classification_label classification_labels classification_labels_all
    clearance clearance_level doc_level
    """.split()
)
"""Names of scope and access: the caller's values apply, so a query's are dropped."""


EXCLUSIVE: Final = "filters_exclude_each_other"
"""No node can pass both of two filters."""
NOT_COMBINABLE: Final = "filters_not_combinable"
"""Two filters want different values of a metadata key: a node may have both in a list, but no filter can ask so."""
_LONGEST_TENANT = 256
_PASSED_BY_NONE: Final = {
    # No tenant of a node is that long, so that no node passes.
    EXCLUSIVE: NodeFilter(tenant_ids=["-" * (_LONGEST_TENANT + 1)]),
    NOT_COMBINABLE: NodeFilter(tenant_ids=["-" * (_LONGEST_TENANT + 2)]),
}


def why_none_passes(narrowing: NodeFilter) -> str:
    """EXCLUSIVE or NOT_COMBINABLE for a filter that `merged` made for this reason, which no node passes; else empty."""
    reasons = (reason for reason, none in _PASSED_BY_NONE.items() if none.tenant_ids == narrowing.tenant_ids)
    return next(reasons, "")


def merged(base: NodeFilter, added: NodeFilter) -> NodeFilter:
    """The filter that passes what both pass; one that no node passes when they exclude each other.

    For a metadata key in both filters, the values in both are kept. For a node with several values under the key the
    result may be narrower than both filters; it is never wider.
    """
    for reason in filter(None, map(why_none_passes, (base, added))):
        return _PASSED_BY_NONE[reason]
    narrowed: dict[str, Sequence[str]] = {}
    for name in _TEXT_FIELDS:
        ours: Sequence[str] = getattr(base, name)
        theirs: Sequence[str] = getattr(added, name)
        if ours and theirs:
            is_path = name == "path_prefixes"
            both = (
                _common_prefixes(ours, theirs) if is_path else [text for text in dict.fromkeys(ours) if text in theirs]
            )
            if not both:
                return _PASSED_BY_NONE[EXCLUSIVE]
            narrowed[name] = both
        else:
            narrowed[name] = list(ours or theirs)
    flags: dict[str, bool] = {}
    for name in FLAG_FIELDS:
        given = {value for part in (base, added) for field, value in part.ListFields() if field.name == name}
        if len(given) > 1:
            return _PASSED_BY_NONE[EXCLUSIVE]
        flags.update(dict.fromkeys([name] if given else [], any(given)))
    mine, yours = metadata_of(base), metadata_of(added)
    metadata = {**mine, **yours}
    for key in mine.keys() & yours.keys():
        metadata[key] = _common_values(mine[key], yours[key])
        if not metadata[key]:
            return _PASSED_BY_NONE[NOT_COMBINABLE]
    narrowing = node_filter({**flags, "metadata": metadata})
    for name, texts in narrowed.items():
        getattr(narrowing, name).extend(texts)
    return narrowing


def extended(base: NodeFilter, added: NodeFilter) -> tuple[NodeFilter, tuple[str, ...]]:
    """The base with the fields that only `added` has, and the names of the fields whose value in `added` it replaces.

    A field of the base always keeps its value.
    """
    ours, theirs = ({field.name: value for field, value in part.ListFields()} for part in (base, added))
    replaced = tuple(name for name in ours if name in theirs and ours[name] != theirs[name])
    return NodeFilter(**{**theirs, **ours}), replaced


def plain(narrowing: NodeFilter) -> dict[str, object]:
    """The fields that are set, as plain values by name."""
    texts = {name: list(getattr(narrowing, name)) for name in _TEXT_FIELDS if getattr(narrowing, name)}
    flags = {field.name: value for field, value in narrowing.ListFields() if field.name in FLAG_FIELDS}
    metadata = metadata_of(narrowing)
    return {**texts, **flags, **({"metadata": metadata} if metadata else {})}


def filters_in_words(
    base: NodeFilter, kinds: Sequence[str] = (), languages: Sequence[str] = (), folders: Sequence[str] = ()
) -> str:
    """The filter of searches in words, and how a query may narrow it further; the same words for the same filter.

    Args:
        base: The filter.
        kinds: The kinds that the index has. If they are known, only filters are named whose values can be known.
        languages: The languages that it has.
        folders: Its folders, cut to two names.
    """
    given = plain(base)
    restrictions = [f"- {name}: {_json(value)}" for name, value in given.items()]
    offered = [name for name in dict.fromkeys(FILTER_NAMES.values()) if name not in given]
    names = ", ".join(name for name in offered if not kinds or name in _KNOWABLE)
    values = {"kinds": kinds, "languages": languages}
    known = [f"- {name}: {_listed(values[name])}" for name in values if values[name] and name in offered]
    flags = ", ".join(FLAG_FIELDS)
    return "\n".join(
        (
            "Every search is restricted to:" if restrictions else "Searches are not restricted.",
            *restrictions,
            'A query may narrow it further as the object {"query": "...", "filters": {...}} on one line. Its filters:',
            f"{names}.",
            *(["The index has these values, and no others:", *known] if known else ()),
            *([f"path_prefixes may begin with its folders: {_listed(folders)}."] if folders else ()),
            f"Each value is a text or a list of alternatives; {flags} are true or false.",
        )
    )


def _listed(values: Sequence[str]) -> str:
    more = f", and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    return f"{', '.join(values[:_MOST_VALUES])}{more}"


def _common_prefixes(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """The prefixes common to both lists: when one of two begins with the other, the longer."""
    longer = (
        max(mine, yours, key=len)
        for mine in ours
        for yours in theirs
        if mine.startswith(yours) or yours.startswith(mine)
    )
    return tuple(dict.fromkeys(longer))


def _common_values(ours: MetadataValue, theirs: MetadataValue) -> tuple[MetadataScalar, ...]:
    """The values in both lists. Python considers True and 1 equal; a filter does not."""
    wanted = {(isinstance(value, bool), value) for value in _alternatives(theirs)}
    return tuple(value for value in _alternatives(ours) if (isinstance(value, bool), value) in wanted)


def _alternatives(value: MetadataValue) -> Sequence[MetadataScalar]:
    return (value,) if value is None or isinstance(value, str | int | float) else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)
