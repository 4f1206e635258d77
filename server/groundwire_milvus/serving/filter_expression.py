"""Filters and bounds as expressions of Milvus. Their strings are hexadecimal, so there is nothing to escape."""

from collections.abc import Iterator, Sequence

from groundwire_milvus.packing import hexed, metadata_digest
from groundwire_milvus.store import among
from groundwire_server.domain.access.access import Bounds
from groundwire_server.domain.search.search import FILTERED_FLAGS, FILTERED_STRINGS, Filter, MetadataCondition

NO_ROW = "row < 0"
"""What no row meets."""


def both(*expressions: str) -> str:
    """The intersection of several expressions; "" means one that every row meets."""
    return " and ".join(expression for expression in expressions if expression)


def any_of(expressions: Sequence[str]) -> str:
    """The union of several expressions; none of them is ""."""
    return f"({' or '.join(expressions)})" if expressions else NO_ROW


def rows_from(first: int, end: int) -> str:
    """The rows from `first` on that come before `end`."""
    return f"row >= {first} and row < {end}"


def filter_expression(filter_: Filter) -> str:
    """The expression for all fields of a filter but `tenant_ids`, which classes cover; "" when nothing narrows."""
    return both(*_conditions(filter_))


def bounds_expression(bounds: Bounds) -> str:
    """The expression for all bounds; a node without a value is outside each of them. "" without bounds."""
    return both(*_limits(bounds))


def class_expression(classes: Sequence[bool]) -> str:
    """The nodes of the visibility classes that are chosen, one flag a class; "" for all of them."""
    chosen = [number for number, is_chosen in enumerate(classes) if is_chosen]
    others = [number for number, is_chosen in enumerate(classes) if not is_chosen]
    if not chosen:
        return NO_ROW
    if not others:
        return ""
    return among("class", chosen) if len(chosen) <= len(others) else f"class not in {others}"


def _conditions(filter_: Filter) -> Iterator[str]:
    for field, column in FILTERED_STRINGS.items():
        wanted: tuple[str, ...] = getattr(filter_, field)
        if wanted:
            yield among(column, sorted(set(map(hexed, wanted))))
    if filter_.path_prefixes and "" not in filter_.path_prefixes:
        yield any_of([starting("path", prefix) for prefix in sorted(set(filter_.path_prefixes))])
    for field in FILTERED_FLAGS:
        wanted_flag: bool | None = getattr(filter_, field)
        if wanted_flag is not None:
            yield f"{field} == {str(wanted_flag).lower()}"
    for condition in filter_.metadata:
        yield _metadata(condition)


def _metadata(condition: MetadataCondition) -> str:
    digests = sorted({metadata_digest(condition.key, value) for value in condition.values})
    if not digests:
        return NO_ROW
    listed = ",".join(f'"{digest}"' for digest in digests)
    return f"array_contains_any(metadata, [{listed}])"


def _limits(bounds: Bounds) -> Iterator[str]:
    for column, names in bounds.by_field.items():
        listed = sorted(map(hexed, names.listed - {""}))
        starts = [starting(column, prefix) if prefix else f'{column} != ""' for prefix in sorted(set(names.prefixes))]
        yield any_of([*([among(column, listed)] if listed else []), *starts])
    if bounds.workflows is not None:
        # The field holds `|<hexadecimal>|<hexadecimal>|`, and nothing for a node without workflows.
        listed = sorted(map(hexed, bounds.workflows.listed - {""}))
        starts = sorted(map(hexed, bounds.workflows.prefixes))
        yield any_of([f'workflows like "%|{name}|%"' for name in listed] + [f'workflows like "%|{s}%"' for s in starts])


def starting(column: str, prefix: str) -> str:
    """The rows whose string in a column begins with a prefix."""
    return f'{column} like "{hexed(prefix)}%"'
