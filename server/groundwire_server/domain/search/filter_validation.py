"""The rules of a filter, which is the same for every action."""

from dataclasses import fields

from groundwire_server.domain.errors import Reason
from groundwire_server.domain.limits import MAX_FILTER_CONDITIONS, MAX_FILTER_VALUE_LENGTH, MAX_FILTER_VALUES
from groundwire_server.domain.search.search import Filter, MetadataCondition
from groundwire_server.domain.validation import Violations

_NO_LISTS = ("is_latest", "is_test", "is_generated", "metadata")
_LISTS = tuple(field.name for field in fields(Filter) if field.name not in _NO_LISTS)


def check_filter(filter_: Filter, violations: Violations) -> None:
    """Checks the numbers and lengths of a filter's values."""
    if not filter_.narrows:
        return
    for name in _LISTS:
        values: tuple[str, ...] = getattr(filter_, name)
        violations.bound_count(f"filter.{name}", values, MAX_FILTER_VALUES)
        for position, value in enumerate(values[:MAX_FILTER_VALUES]):
            violations.bound_length(f"filter.{name}[{position}]", value, MAX_FILTER_VALUE_LENGTH)
    violations.bound_count("filter.metadata", filter_.metadata, MAX_FILTER_CONDITIONS)
    for condition in filter_.metadata[:MAX_FILTER_CONDITIONS]:
        _check_condition(condition, violations)


def _check_condition(condition: MetadataCondition, violations: Violations) -> None:
    field = f"filter.metadata.{condition.key}"
    if not 0 < len(condition.key) <= MAX_FILTER_VALUE_LENGTH:
        violations.add(
            field,
            Reason.VALUE_OUT_OF_RANGE,
            f"the key has {len(condition.key)} characters; give 1 to {MAX_FILTER_VALUE_LENGTH}",
        )
    violations.bound_count(field, condition.values, MAX_FILTER_VALUES)
    for position, value in enumerate(condition.values[:MAX_FILTER_VALUES]):
        if isinstance(value, str) and len(value) > MAX_FILTER_VALUE_LENGTH:
            violations.bound_length(f"{field}[{position}]", value, MAX_FILTER_VALUE_LENGTH)
