"""What must not stand in the project's files."""

import re
import subprocess
from pathlib import Path

from project.tools import ROOT

# In pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(r"(?<![\w.~-])/(?:" + "|".join(("home", "Users", "root", "work", "mnt")) + r")/\w")


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = [
        f"{path}:{number}: {line.strip()}"
        for path, text in _texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if MACHINE_PATH.search(line)
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
