"""How much room the parts of a folder have on the map."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire_client import SearchHit, SourceLocation
from groundwire_explore.folders import Folder, Part
from groundwire_explore.overview import example_questions
from groundwire_explore.part_sizes import is_beside_code, parts_inside, with_sizes


def hits(path: str, count: int, *, is_test: bool = False) -> list[SearchHit]:
    place = SourceLocation(path=path, start_line=1)
    return [SearchHit(id=f"{path}{number}", location=place, is_test=is_test) for number in range(count)]


def folder_of(*groups: list[SearchHit]) -> Folder:
    every = [hit for group in groups for hit in group]
    folder = Folder("v1", "", len(every), tuple(every), ())
    counts = folder.read_of(every)
    return Folder("v1", "", len(every), tuple(every), tuple(Part(path, counts[path]) for path in counts))


def shares(folder: Folder) -> dict[str, float]:
    whole = sum(part.size for part in folder.parts)
    return {part.path: part.size / whole for part in folder.parts}


def test_code_comes_first_and_the_rest_has_no_quarter() -> None:
    folder = folder_of(
        hits("tests/a.py", 500, is_test=True),
        hits("CHANGES.rst", 300),
        hits("LICENSE", 20),
        hits("data/rows.json", 100),
        hits("src/a.py", 80),
        hits("docs/a.md", 40),
    )
    sized = with_sizes(folder, ())
    assert [part.path for part in sized.parts][:2] == ["src/", "docs/"]
    drawn = shares(sized)
    assert drawn["src/"] + drawn["docs/"] > 0.75
    assert {part.path: part.nodes for part in sized.parts} == {part.path: part.nodes for part in folder.parts}


def test_a_folder_of_tests_is_drawn_by_its_nodes() -> None:
    folder = folder_of(hits("tests/a.py", 90, is_test=True), hits("tests/b/b.py", 30, is_test=True), hits("c.py", 3))
    tests = Folder("v1", "tests/", 120, folder.hits, (Part("tests/a.py", 90), Part("tests/b/", 30)))
    assert shares(with_sizes(tests, ())) == {"tests/a.py": 0.75, "tests/b/": 0.25}


def test_a_folder_that_holds_code_and_tests_counts_its_code() -> None:
    folder = folder_of(hits("a/a.py", 50), hits("a/a_test.py", 50, is_test=True), hits("b/b.py", 75))
    sized = with_sizes(folder, ())
    assert [part.path for part in sized.parts] == ["b/", "a/"]
    inside = parts_inside(sized, sized.parts[1], ())
    assert [part.path for part in inside] == ["a/a.py", "a/a_test.py"]
    assert inside[0].size > 5 * inside[1].size


def test_older_definitions_have_little_room() -> None:
    """A table that many scripts define is one table."""
    scripts = [hits(f"releases/{number}.sql", 10) for number in range(9)]
    folder = folder_of(*scripts, hits("tables/orders.sql", 10))
    older = [hit.id for script in scripts for hit in script]
    assert shares(with_sizes(folder, ()))["releases/"] == 0.9
    assert shares(with_sizes(folder, older))["releases/"] == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("path", "is_beside"),
    [
        ("CHANGELOG.md", True),
        ("CHANGELOG-2024.md", True),
        ("docs/changes.rst", True),
        ("LICENSE", True),
        ("licenses.txt", True),
        ("THIRD-PARTY-NOTICES.txt", True),
        ("NEWS", True),
        ("rows.csv", True),
        ("src/history.py", False),
        ("src/Licensing.md", False),
        ("docs/newsletter.md", False),
        ("src/change.cs", False),
    ],
)
def test_papers_and_data_are_beside_the_code(path: str, is_beside: bool) -> None:
    assert is_beside_code(SearchHit(location=SourceLocation(path=path))) == is_beside


def test_no_question_to_begin_with_is_about_a_change_log() -> None:
    sections = [
        SearchHit(symbol=f"{title} > {part}", location=SourceLocation(path=path))
        for title, path in (("Changelog", "CHANGELOG.md"), ("Deploying", "docs/deploy.md"))
        for part in "abc"
    ]
    assert example_questions(sections) == ("What is said about “Deploying”?",)


@given(st.lists(st.tuples(st.integers(1, 400), st.booleans()), min_size=1, max_size=24))
def test_what_is_beside_the_code_never_has_a_quarter(groups: list[tuple[int, bool]]) -> None:
    folder = folder_of(*(hits(f"{place}/a.py", size, is_test=beside) for place, (size, beside) in enumerate(groups)))
    code = sum(size for size, beside in groups if not beside)
    drawn = shares(with_sizes(folder, ()))
    beside_share = sum(drawn[f"{place}/"] for place, (_, beside) in enumerate(groups) if beside)
    assert sum(drawn.values()) == pytest.approx(1)
    if code >= sum(size for size, _ in groups) / 10:
        assert beside_share < 0.25
