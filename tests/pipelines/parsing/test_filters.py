from dataclasses import fields

from hypothesis import given
from hypothesis import strategies as st

from groundwire_client import Filter
from groundwire_pipelines.parsing.filters import FILTER_NAMES, merged

PATHS = ["", "s", "src", "src/", "src/a", "src/b/c", "lib/"]
WORDS = ["cs", "sql", "py"]
FIELDS = [field.name for field in fields(Filter)]


def values(field: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(PATHS if field == "path_prefixes" else WORDS), max_size=3).map(tuple)


FILTERS = st.builds(Filter, **{field: values(field) for field in FIELDS})
NODES = st.fixed_dictionaries(
    {field: st.sampled_from([*PATHS, "src/b/c.py"] if field == "path_prefixes" else [*WORDS, ""]) for field in FIELDS}
)


def admits(narrowing: Filter, node: dict[str, str]) -> bool:
    """The contract's rule: any value of a field, all fields."""
    return all(
        not wanted
        or (any(node[name].startswith(value) for value in wanted) if name == "path_prefixes" else node[name] in wanted)
        for name in FIELDS
        for wanted in [getattr(narrowing, name)]
    )


@given(FILTERS, FILTERS, NODES)
def test_admits_exactly_what_both_admit(base: Filter, added: Filter, node: dict[str, str]) -> None:
    both = merged(base, added)
    assert (both is not None and admits(both, node)) == (admits(base, node) and admits(added, node))


@given(FILTERS)
def test_adding_nothing_changes_nothing_that_is_admitted(base: Filter) -> None:
    both = merged(base, Filter())
    assert both == base
    assert merged(Filter(), base) == base


def test_names_every_field_of_a_filter_and_nothing_else() -> None:
    assert set(FILTER_NAMES.values()) == set(FIELDS)


def test_keeps_the_callers_order_without_repeats() -> None:
    both = merged(Filter(kinds=("py", "cs", "py")), Filter(kinds=("cs", "py", "sql")))
    assert both == Filter(kinds=("py", "cs"))
