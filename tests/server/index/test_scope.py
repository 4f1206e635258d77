"""Names of repositories, branches, versions and kinds, and the path components they become."""

from pathlib import PurePosixPath
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_index.scope import Scope, canonical_id, escaped, kind_problem, name_problem, node_key, version_problem


@pytest.mark.parametrize(
    "name", ["shop", "feature/tax", "Ärger", "a b", "a:b", ".hidden", "..", "~x", "3.11", "名前", "a" * 200, "ü" * 33]
)
def test_names_that_may_be_used(name: str) -> None:
    assert name_problem(name) is None


@pytest.mark.parametrize(
    "name",
    ["", " a", "a ", "a::b", ":a", "a:", "a\nb", "a\x00b", "a\x7fb", "\ud800", "\u2003", "a" * 201, "ü" * 34, "/" * 67],
)
def test_names_that_may_not_be_used(name: str) -> None:
    assert name_problem(name) is not None


@pytest.mark.parametrize("version", ["v1", "2025-12-14_develop", "1", "a.b+c", "A" * 128])
def test_versions_that_may_be_used(version: str) -> None:
    assert version_problem(version) is None


@pytest.mark.parametrize("version", ["", ".active", "..", "-x", "_x", "a/b", "a b", "a\n", "ü", "A" * 129])
def test_versions_that_may_not_be_used(version: str) -> None:
    assert version_problem(version) is not None


@pytest.mark.parametrize("kind", ["cs", "sql", "a1_b", "a" * 32])
def test_kinds_that_may_be_used(kind: str) -> None:
    assert kind_problem(kind) is None


@pytest.mark.parametrize("kind", ["", "CS", "1a", "_a", "a-b", "a::b", "cs\n", "a" * 33])
def test_kinds_that_may_not_be_used(kind: str) -> None:
    assert kind_problem(kind) is not None


usable_names = st.text(min_size=1, max_size=20).filter(lambda name: name_problem(name) is None)


@given(name=usable_names)
def test_an_escaped_name_is_one_visible_path_component_and_can_be_read_back(name: str) -> None:
    component = escaped(name)
    assert PurePosixPath(component).parts == (component,)
    assert not component.startswith(".")
    assert component.isascii()
    assert unquote(component) == name


@given(
    first=st.tuples(usable_names, usable_names, st.text(max_size=10)),
    second=st.tuples(usable_names, usable_names, st.text(max_size=10)),
)
def test_canonical_ids_are_unique(first: tuple[str, str, str], second: tuple[str, str, str]) -> None:
    ids = [canonical_id(Scope(repository, branch), "cs", local) for repository, branch, local in (first, second)]
    assert (ids[0] == ids[1]) == (first == second)


def test_a_canonical_id_does_not_hold_the_version() -> None:
    assert canonical_id(Scope("nopCommerce", "develop", "v1"), "cs", "C0001") == "nopCommerce::develop::cs::C0001"
    assert node_key("sql", "dbo.Invoice|TABLE") == "sql::dbo.Invoice|TABLE"
