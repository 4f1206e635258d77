"""The wheel in a clean environment, without the source tree: what the containers run."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from groundwire_client import GroundwireClient, IndexScope, SearchType
from support import programs
from support.program import Server, run_ok, write_jsonl

ROOT = Path(__file__).resolve().parents[2]
BUILDING = ("onnx", "safetensors", "sentence_transformers", "sqlglot", "torch", "tree_sitter")
TEXTS = ("load a user by id", "pay an invoice", "draw a red circle")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment for serving."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    install(folder / "bin", f"{wheel}[server]")
    return folder / "bin"


def install(programs: Path, *what: str) -> None:
    # What comes along is mostly never loaded, so it is not compiled.
    options = ("--quiet", "--disable-pip-version-check", "--no-compile")
    subprocess.run([programs / "python", "-m", "pip", "install", *options, *what], check=True, cwd=programs)


def clean_variables() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_a_text_query_is_served_without_what_builds(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [
        {"type": "node", "kind": "md", "local_id": f"T{place}", "text": text} for place, text in enumerate(TEXTS)
    ]
    data = tmp_path / "data"
    run_ok("index", write_jsonl(tmp_path / "t.jsonl", records), "-r", "shop", "-b", "main", "--data", data)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setenv("GROUNDWIRE_EXECUTABLE", str(environment / "groundwire"))
    with Server(data) as server, GroundwireClient(server.address, timeout=300) as client:
        response = client.search(
            IndexScope(repository="shop", branch="main"),
            "who pays bills",
            search_type=SearchType.SEARCH_TYPE_SEMANTIC,
            top_k=1,
        )
    assert [hit.id for hit in response.hits] == ["shop::main::md::T1"]
    command = [environment / "python", "-I", "-W", "error", programs.program("print_installed"), *BUILDING]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"


def test_an_environment_for_serving_says_what_building_needs(environment: Path, tmp_path: Path) -> None:
    command = [environment / "groundwire", "index", tmp_path, "-r", "r", "-b", "b", "--data", tmp_path / "data"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_variables())
    assert done.returncode == 2
    assert 'pip install "groundwire[index]"' in done.stderr


def test_an_environment_for_serving_says_what_a_model_of_ones_own_needs(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    for option in ("--embedder", "--reranker"):
        command = [environment / "groundwire", "serve", "--data", tmp_path, option, tmp_path / "model"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_variables(), timeout=300)
        assert done.returncode == 2, done.stderr
        assert 'pip install "groundwire[local-models]"' in done.stderr


def test_contract_against_an_installed_wheel(environment: Path, wheel: Path) -> None:
    install(environment, f"{wheel}[index,milvus]")
    # Of the many tests that ask Milvus some are enough to see that what the extra brings is complete.
    chosen = ("-k", "not milvus or test_actions")
    contract = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen, "tests/contract"]
    variables = {**clean_variables(), "GROUNDWIRE_EXECUTABLE": str(environment / "groundwire")}
    done = subprocess.run(contract, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
