"""What can be checked of other systems on this one."""

from pathlib import Path

import pytest

from support import programs


def test_every_module_is_imported_without_what_only_posix_has() -> None:
    assert int(programs.output("import_as_windows")) > 600


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl",
        "import resource",
        "from multiprocessing.forkserver import ensure_running",
        "import signal\nsignal.SIGKILL",
        "import os\nos.getuid()",
        "import sys\nassert sys.platform == 'linux'",
    ],
)
def test_a_module_that_needs_posix_is_noticed(tmp_path: Path, text: str) -> None:
    (tmp_path / "needs_posix.py").write_text(text, encoding="utf-8")
    path = programs.variables()["PYTHONPATH"]
    done = programs.run("import_as_windows", "needs_posix", PYTHONPATH=f"{tmp_path}:{path}")
    assert done.returncode != 0
    assert "needs_posix.py" in done.stderr
