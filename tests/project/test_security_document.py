"""Each promise of SECURITY.md names tests, and these are there."""

import re

from project.tools import ROOT

TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def promises() -> list[list[str]]:
    """The cells of each row of the table of promises."""
    document = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    _, _, table = document.partition("| subject | promise | tests |\n")
    lines, _, _ = table.partition("\n\n")
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines.splitlines()[1:]]


def test_every_promise_names_tests_that_are_there() -> None:
    assert promises()
    for what, promise, *held_by in promises():
        tests = TEST.findall(" ".join(held_by))
        assert tests, f"{what}: {promise}: names no test"
        missing = [(file, test) for file, test in tests if not _is_there(file, test)]
        assert not missing, f"{what}: {promise}"


def _is_there(path: str, test: str) -> bool:
    file = ROOT / path
    return file.is_file() and f"def {test}(" in file.read_text(encoding="utf-8")
