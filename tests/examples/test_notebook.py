"""The notebook of `examples/`, run in a kernel before a real server: the evidence, the plot and the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.openai_server import scripted_server
from support.program import Server, run_ok
from support.tools import ROOT

if TYPE_CHECKING:
    from nbformat import NotebookNode

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "examples" / "evidence.ipynb"
SESSIONS = '''"""Sessions in signed cookies."""
from flask.helpers import digest

def sign_session_cookie(payload: str, secret_key: str) -> str:
    """Signs the session cookie."""
    return payload + "." + digest(payload, secret_key)


def open_session(cookie: str, secret_key: str) -> str:
    """Reads a session cookie that is signed."""
    payload, _, signature = cookie.rpartition(".")
    return payload if signature == digest(payload, secret_key) else ""
'''
HELPERS = '''"""Helpers."""


def digest(payload: str, secret_key: str) -> str:
    """The signature of a cookie."""
    return payload[::-1] + secret_key
'''
SECONDS = 300
TOLD = "import json\nprint(json.dumps([[int(bar.get_width()) for bar in axes.patches], tokens, prompt]))"
"""What the plot shows, and the prompt."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Server]:
    """A server of the index that the notebook asks for."""
    source = folder / "src" / "flask"
    source.mkdir(parents=True)
    (source / "sessions.py").write_text(SESSIONS, encoding="utf-8")
    (source / "helpers.py").write_text(HELPERS, encoding="utf-8")
    scope = ("--repository", "flask", "--branch", "main", "--embedder", "none")
    run_ok("index", folder / "src", *scope, "--data", folder / "data")
    with Server(folder / "data", "--embedder", "none") as server:
        yield server


@pytest.fixture(autouse=True)
def environment(server: Server, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel's: the server, and a folder for what IPython and matplotlib keep."""
    monkeypatch.setenv("GROUNDWIRE_SERVER", server.address)
    monkeypatch.setenv("IPYTHONDIR", str(folder))
    monkeypatch.setenv("MPLCONFIGDIR", str(folder))
    monkeypatch.delenv("OPENAI_MODEL", raising=False)


def executed() -> dict[str, NotebookNode]:
    """The cells by id, after a run of all of them and of one that tells what the others made."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)  # type: ignore[no-untyped-call]
    notebook.cells.append(nbformat.v4.new_code_cell(TOLD, id="told"))  # type: ignore[no-untyped-call]
    kernel = NotebookClient(notebook, timeout=SECONDS, startup_timeout=SECONDS)
    return {cell.id: cell for cell in kernel.execute().cells}


def output(cell: NotebookNode, kind: str) -> NotebookNode:
    """The output of this type, of which there is one; matplotlib may write to stderr besides."""
    of_kind: NotebookNode
    (of_kind,) = [part for part in cell.outputs if part.output_type == kind and part.get("name") != "stderr"]
    return of_kind


def printed(cell: NotebookNode) -> str:
    return str(output(cell, "stream").text)


def test_without_a_model_the_notebook_prints_the_prompt() -> None:
    cells = executed()
    assert "flask/sessions.py:4-6" in output(cells["evidence"], "execute_result").data["text/html"]
    assert output(cells["files"], "display_data").data["image/png"]
    widths, tokens, prompt = json.loads(printed(cells["told"]))
    assert set(tokens) == {"flask/sessions.py", "flask/helpers.py"}
    assert widths == sorted(tokens.values(), reverse=True)
    assert printed(cells["answer"]) == f"{prompt}\n"
    assert "flask/sessions.py\n[1]" in prompt
    assert "\n4 def sign_session_cookie(" in prompt
    assert prompt.endswith("\n\nQuestion: how is a session cookie signed?")


def test_a_model_answers_from_the_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted_server(["With a digest [1]."]) as model:
        monkeypatch.setenv("OPENAI_MODEL", "scripted")
        monkeypatch.setenv("OPENAI_BASE_URL", model.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        cells = executed()
    _, _, prompt = json.loads(printed(cells["told"]))
    assert model.prompts == [prompt]
    answer, first, *_ = printed(cells["answer"]).splitlines()
    assert answer == "With a digest [1]."
    assert first.startswith("[1] flask/sessions.py:")


def test_the_notebook_is_committed_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
