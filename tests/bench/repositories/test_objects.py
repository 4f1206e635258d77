"""The objects of real databases: their table, their questions, and the figures that follow."""

from pathlib import Path

import pytest

from bench.repositories.objects import DatabaseObject, ObjectAnswer, grid, questions, read_objects
from bench.repositories.tables import TableError

SETS = Path(__file__).parents[3] / "bench" / "repositories" / "sets"


@pytest.mark.parametrize("name", ["bitwarden", "mojoportal"])
def test_the_tables_of_this_repository_are_whole(name: str) -> None:
    objects = list(read_objects(SETS / name / "objects.tsv"))
    assert len({item.name for item in objects}) == len(objects) == 50
    assert all(item.name not in item.question for item in objects)


def test_a_line_that_lacks_a_field_is_named(tmp_path: Path) -> None:
    table = tmp_path / "objects.tsv"
    table.write_text("1\tTABLE\tTax\twhere is the table for tax?\ta.sql|b.sql\n2\tTABLE\tVat\t\ta.sql\n")
    objects = read_objects(table)
    assert next(objects) == DatabaseObject("TABLE", "Tax", "where is the table for tax?", ("a.sql", "b.sql"))
    with pytest.raises(TableError, match="line 2: has 5 fields; write 5, none of them empty"):
        next(objects)


def test_the_figures_count_first_places_of_each_kind() -> None:
    kinds = list(questions(DatabaseObject("TABLE", "Tax", "where is tax?", ("a.sql",))))
    assert kinds == ["current definition of NAME", "name alone", "in words"]
    answers = [ObjectAnswer("in words", name, rank) for name, rank in (("a", 1), ("b", 5), ("c", 6), ("d", 0))]
    assert grid("shop", answers).rows == [["in words", "1 of 4", "2 of 4"]]
