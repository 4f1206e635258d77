"""Two readings of a file that differ in texts and lines alone."""

from pathlib import Path

import pytest

from groundwire_ingest.tree.line_moves import line_moves
from groundwire_ingest.tree.single_file import FileReport, read_file
from groundwire_ingest.tree.walk import ListedFile

SHOP = "import tax\n\n\ndef one():\n    return tax.rate()\n\n\ndef two():\n    return one()\n"


def read(folder: Path, text: str, language: str = "python") -> FileReport:
    (folder / "shop").write_text(text, encoding="utf-8")
    return read_file(folder, ListedFile("shop", language))


def test_lines_below_a_comment_move(tmp_path: Path) -> None:
    moves = line_moves(read(tmp_path, SHOP), read(tmp_path, SHOP.replace("def two", "# calls one\ndef two")))
    assert moves is not None
    assert {line: moves.moved(line) for line in (0, 1, 4, 5, 8, 9)} == {0: 0, 1: 1, 4: 4, 5: 5, 8: 9, 9: 10}
    assert moves.moved(7) is None


@pytest.mark.parametrize(
    "text",
    [
        SHOP.replace("two", "three"),
        SHOP.replace("    return one()", "    other()\n    return one()"),
        "def two():\n    return one()\n\n\ndef one():\n    return tax.rate()\n\n\nimport tax\n",
        SHOP + "\n\nX = 1\n",
        "# @generated\n" + SHOP,
    ],
)
def test_a_file_that_says_something_else_is_compared_no_further(tmp_path: Path, text: str) -> None:
    assert line_moves(read(tmp_path, SHOP), read(tmp_path, text)) is None


def test_lines_above_all_others_move_all_but_the_line_of_the_file(tmp_path: Path) -> None:
    moves = line_moves(read(tmp_path, SHOP), read(tmp_path, "# a shop\n" + SHOP))
    assert moves is not None
    assert (moves.moved_statement(1), moves.moved(1), moves.moved(4)) == (2, None, 5)
    assert moves.stay_behind(4, 5)
    assert not moves.stay_behind(1, 2)


def test_files_that_are_read_by_their_lines_are_not_compared(tmp_path: Path) -> None:
    before, now = read(tmp_path, '{"a": 1}\n', "json"), read(tmp_path, '\n{"a": 1}\n', "json")
    assert line_moves(before, now) is None
