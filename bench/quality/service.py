"""The real programs: `groundwire index` builds, `groundwire serve` answers."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from groundwire_client import IndexScope

GROUNDWIRE = Path(sys.executable).with_name("groundwire")
BRANCH = "main"


def run_groundwire(*arguments: str | Path) -> None:
    """Runs `groundwire ARGUMENTS` to its end.

    Raises RuntimeError; the program has then said on stderr what is wrong.
    """
    if subprocess.run([GROUNDWIRE, *arguments], check=False, stdout=subprocess.DEVNULL).returncode:
        raise RuntimeError(f"groundwire {' '.join(map(str, arguments))} failed")


def build_index(source: Path, repository: str, data: Path, embedder: str) -> IndexScope:
    """Indexes a source anew; vectors that the data folder's cache holds are used again. Raises RuntimeError."""
    shutil.rmtree(data / repository, ignore_errors=True)
    scope = ("--repository", repository, "--branch", BRANCH)
    run_groundwire("index", source, *scope, "--data", data, "--embedder", embedder)
    return IndexScope(repository=repository, branch=BRANCH)


@contextmanager
def running_server(data: Path, embedder: str, reranker: str) -> Iterator[str]:
    """Runs a server on a free port and yields its address; drains it at the end. Raises RuntimeError."""
    models = ("--embedder", embedder, *(("--reranker", reranker) if reranker else ()))
    address = ("--listen", "127.0.0.1:0", "--log-format", "json")
    command: list[str | Path] = [GROUNDWIRE, "serve", "--data", data, *address, *models]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = []
        try:
            for line in process.stderr:
                said.append(line)
                if '"listening"' in line:
                    break
            else:
                raise RuntimeError(f"the server did not start:\n{''.join(said)}")
            # Nobody reads its log any more, and a full pipe would stop it.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            yield str(json.loads(line)["address"])
        finally:
            process.terminate()
