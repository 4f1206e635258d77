"""The made tree of definitions, its questions, and the figures that follow."""

import re
from collections import Counter

from bench.repositories.definition_tree import IN_OWN_FILES, IN_RELEASES_ONLY, definition_tree
from bench.repositories.definitions import Answer, grid, questions


def _release(path: str) -> int:
    number = re.search(r"Release_(\d+)\.sql$", path)
    return int(number[1]) if number else 0


def test_each_procedure_is_in_three_to_eight_releases_and_the_current_one_is_its_file_or_in_the_newest() -> None:
    files, definitions = definition_tree()
    assert len({definition.name for definition in definitions}) == IN_OWN_FILES + IN_RELEASES_ONLY
    for number, definition in enumerate(definitions):
        defining = re.compile(rf"^(?:CREATE|ALTER) PROCEDURE dbo\.{definition.name}\n", re.MULTILINE)
        paths = [path for path, text in files.items() if defining.search(text)]
        releases = [path for path in paths if _release(path)]
        assert 3 <= len(releases) <= 8
        if number < IN_OWN_FILES:
            assert definition.path == f"database/dbo/Stored Procedures/{definition.name}.sql"
            assert set(paths) - set(releases) == {definition.path}
        else:
            assert paths == releases
            assert definition.path == max(releases, key=_release)


def test_the_tree_is_the_same_each_time() -> None:
    assert definition_tree() == definition_tree()


def test_release_scripts_have_many_statements() -> None:
    files, _ = definition_tree()
    counts = Counter({path: text.count("\nGO\n") for path, text in files.items() if _release(path)})
    assert min(counts.values()) >= 5
    assert sum(counts.values()) / len(counts) > 20


def test_the_figures_are_by_place_and_kind() -> None:
    answers = [
        Answer("in words", "A", has_own_file=True, rank=1, leads_evidence=True),
        Answer("in words", "B", has_own_file=True, rank=5, leads_evidence=False),
        Answer("in words", "C", has_own_file=True, rank=0, leads_evidence=False),
        Answer("in words", "D", has_own_file=False, rank=6, leads_evidence=True),
    ]
    assert grid(answers).rows == [
        ["a file of its own, in words", "1 of 3", "2 of 3", "1 of 3"],
        ["release scripts only, in words", "0 of 1", "0 of 1", "1 of 1"],
    ]


def test_a_definition_is_asked_for_by_name_and_in_words() -> None:
    _, (first, *_) = definition_tree()
    assert list(questions(first).values()) == [f"the current definition of {first.name}", first.name, first.question]
