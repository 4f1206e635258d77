"""Filters as masks: each field decides a row by that row alone, so a filter can only narrow (design §4)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_server.domain.search import Filter, MetadataCondition
from groundwire_server.index.loaded import LoadedIndex

_CATEGORY_FIELDS = {
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


def narrow(index: LoadedIndex, mask: NDArray[np.bool_], filter_: Filter) -> NDArray[np.bool_]:
    """A new mask [n]: the rows of `mask` that pass every field of the filter."""
    narrowed = mask.copy()
    for field, column in _CATEGORY_FIELDS.items():
        wanted: tuple[str, ...] = getattr(filter_, field)
        if wanted:
            narrowed &= _of_category(index, column, wanted)
    if filter_.path_prefixes:
        narrowed &= _below(index, filter_.path_prefixes)
    if filter_.tenant_ids:
        narrowed &= _of_tenants(index, filter_.tenant_ids)
    if filter_.is_latest is not None:
        narrowed &= index.nodes.is_latest == filter_.is_latest
    for condition in filter_.metadata:
        narrowed &= _with_metadata(index, condition)
    return narrowed


def _of_category(index: LoadedIndex, column: str, wanted: Sequence[str]) -> NDArray[np.bool_]:
    category = index.nodes.categories[column]
    positions = (category.values.find(value) for value in set(wanted))
    return category.rows_with([range(position, position + 1) for position in positions if position is not None])


def _below(index: LoadedIndex, prefixes: Sequence[str]) -> NDArray[np.bool_]:
    paths = index.nodes.categories["path"]
    return paths.rows_with([paths.values.prefix_range(prefix) for prefix in set(prefixes)])


def _of_tenants(index: LoadedIndex, tenant_ids: Sequence[str]) -> NDArray[np.bool_]:
    classes = np.asarray([policy.tenant_id in tenant_ids for policy in index.policies.classes], dtype=np.bool_)
    return index.policies.rows_of(classes)


def _with_metadata(index: LoadedIndex, condition: MetadataCondition) -> NDArray[np.bool_]:
    holding = np.zeros(index.manifest.node_count, dtype=np.bool_)
    for value in condition.values:
        holding[index.metadata_terms.rows_with(condition.key, value)] = True
    return holding
