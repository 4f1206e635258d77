"""What must not stand in the project's files, and the form of what ruff does not look at."""

import re
import subprocess
from pathlib import Path

import pytest

from project.tools import ROOT

# In pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:" + "|".join(("home", "Users", "root", "work", "mnt")) + r")/\w")
# Documents that the project does not hold: what a reader needs of them is said where it is needed.
ABSENT_DOCUMENT = re.compile(r"\b[Ss]eeds? " + r"\d{3}\b|\b[Dd]esign " + "§")
# A section of a docstring: its indentation, what follows its name in the line, and its lines. Of ruff's rules only D417
# looks at entries, at those of `Args`.
SECTION = re.compile(r"^( *)(?:Args|Attributes|Raises):(.*)\n((?:\1 +.*\n)*)", re.MULTILINE)
ENTRIES = re.compile(r"(?: {4}[\w.*]+: \S.*\n(?: {8}\S.*\n)*)+")
ENTRY_WITHIN_AN_ENTRY = re.compile(r"[.;](?: |\n {8})[\w.*]+:\s+[A-Z]")


# What it implements says the same: a method without a docstring says so in fewer words.
POINTER = re.compile('""' + r'"See `[\w.]+`\.?"""')


@pytest.mark.parametrize(
    "unwanted", [MACHINE_PATH, ABSENT_DOCUMENT, POINTER], ids=["path of a machine", "absent document", "pointer"]
)
def test_no_file_names_what_its_readers_do_not_have(unwanted: re.Pattern[str]) -> None:
    unwanted_lines = [
        f"{path}:{number}: {line.strip()}"
        for path, text in _texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if unwanted.search(line)
    ]
    assert not unwanted_lines


def test_each_entry_of_a_docstring_section_has_a_line_of_its_own() -> None:
    crowded = [
        f"{path}: {section[0]}"
        for path, text in _texts()
        if path.suffix == ".py"
        for section in SECTION.finditer(text)
        if not _is_a_list(section)
    ]
    assert not crowded


@pytest.mark.parametrize(
    "section",
    [
        "    Args:\n        source: The text. words: The stems.\n",
        "    Args:\n        source: The text,\n        where it is short.\n",
        "    Raises:\n        StepError: A call failed.\n            OSError: A file is missing.\n",
        "    Raises:\n        StepError: A call failed. OSError:\n            A file is missing.\n",
        "    Attributes: the name and the id\n",
        "    Attributes:\n",
    ],
)
def test_a_section_whose_entries_share_a_line_is_found(section: str) -> None:
    match = SECTION.search(section)
    assert match is not None
    assert not _is_a_list(match)


def _is_a_list(section: re.Match[str]) -> bool:
    """Whether each entry begins a line, and further lines of an entry are indented below it."""
    indentation, rest, body = section.groups()
    lines = re.sub(f"^{indentation}", "", body, flags=re.MULTILINE)
    return not rest and ENTRIES.fullmatch(lines) is not None and ENTRY_WITHIN_AN_ENTRY.search(lines) is None


def _texts() -> list[tuple[Path, str]]:
    """The UTF-8 files that git tracks or would track, by path below the root."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [Path(name) for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]
    assert paths
    return [(path, text) for path in paths if (text := _text(ROOT / path)) is not None]


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
