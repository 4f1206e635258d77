"""What must not stand in the project's files."""

import re
import subprocess
from pathlib import Path

import pytest

from project.tools import ROOT

# In pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:" + "|".join(("home", "Users", "root", "work", "mnt")) + r")/\w")
# Documents that the project does not hold: what a reader needs of them is said where it is needed.
ABSENT_DOCUMENT = re.compile(r"\b[Ss]eeds? " + r"\d{3}\b|\b[Dd]esign " + "§")


@pytest.mark.parametrize("unwanted", [MACHINE_PATH, ABSENT_DOCUMENT], ids=["path of a machine", "absent document"])
def test_no_file_names_what_its_readers_do_not_have(unwanted: re.Pattern[str]) -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in _texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if unwanted.search(line)
    ]
    assert not found


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
