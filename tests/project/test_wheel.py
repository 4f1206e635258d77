"""What the wheel holds, and that a bare install of it works without the server's libraries."""

import os
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from project.tools import ROOT, run_tool
from support import programs

pytestmark = pytest.mark.slow

PACKAGES = {
    "groundwire",
    "groundwire_cli",
    "groundwire_client",
    "groundwire_configuration",
    "groundwire_explore",
    "groundwire_index",
    "groundwire_ingest",
    "groundwire_mcp",
    "groundwire_milvus",
    "groundwire_object_storage",
    "groundwire_pipelines",
    "groundwire_server",
}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the build backend that is installed, so without a download."""
    folder = tmp_path_factory.mktemp("wheel")
    run_tool("python", "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder))
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def names(wheel: Path) -> list[str]:
    """The files in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def bare_bin(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel and what it requires, no extras."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=True)
    bin_folder = folder / ("Scripts" if os.name == "nt" else "bin")
    _run(bin_folder / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
    return bin_folder


def test_wheel_installs_the_packages_and_nothing_else(names: list[str]) -> None:
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES


def test_wheel_brings_no_tests_and_no_build_scripts(names: list[str]) -> None:
    words = {name: set(name.removesuffix(".py").replace("/", "_").split("_")) for name in names}
    assert not [name for name in names if words[name] & {"test", "tests", "conftest", "generate"}]


def test_wheel_brings_every_module(names: list[str]) -> None:
    """A folder of a name that `.gitignore` has, such as `build`, would be left out."""
    folders = {package: next(ROOT.glob(f"*/{package}/py.typed")).parent for package in PACKAGES}
    modules = {str(path.relative_to(folder.parent)) for folder in folders.values() for path in folder.rglob("*.py")}
    assert modules <= set(names)


def test_every_package_tells_that_it_is_typed(names: list[str]) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


@pytest.mark.parametrize("pattern", ["v1/*.proto", "v1/*_pb2*.py", "v1/*_pb2*.pyi", "tokens/vocabularies/*"])
def test_wheel_brings_protos_stubs_and_vocabularies(pattern: str, names: list[str]) -> None:
    expected = {str(path.relative_to(ROOT / "protos")) for path in (ROOT / "protos" / "groundwire").glob(pattern)}
    assert expected
    assert expected <= set(names)


def test_wheel_brings_the_factors_of_the_default_model(names: list[str]) -> None:
    assert "groundwire_ingest/embedding/code_adapter.safetensors" in names


def test_wheel_leads_to_the_record_of_milvus(wheel: Path, names: list[str]) -> None:
    (entry_points,) = (name for name in names if name.endswith(".dist-info/entry_points.txt"))
    with zipfile.ZipFile(wheel) as archive:
        lines = archive.read(entry_points).decode().splitlines()
    assert lines[lines.index("[groundwire.backends]") + 1] == "milvus = groundwire_milvus.record:MILVUS"


def test_wheel_brings_licence_and_notice(names: list[str]) -> None:
    assert {"LICENSE", "NOTICE"} <= {Path(name).name for name in names if ".dist-info/" in name}


def test_bare_install_imports_contract_client_and_pipelines(bare_bin: Path) -> None:
    _run(bare_bin / "python", "-I", "-W", "error", str(programs.program("bare_imports")))


def test_bare_install_has_the_command_line(bare_bin: Path) -> None:
    shown = _run(bare_bin / "groundwire", "--help")
    assert all(command in shown for command in ("index", "serve", "search", "expand", "paths", "fetch"))


@pytest.mark.parametrize(
    ("command", "extra"), [("serve", "server"), ("indexes", "server"), ("index . -r r -b b", "index")]
)
def test_bare_install_says_what_a_command_needs(bare_bin: Path, tmp_path: Path, command: str, extra: str) -> None:
    given: list[str | Path] = [bare_bin / "groundwire", *command.split(), "--data", tmp_path]
    result = subprocess.run(given, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert f'pip install "groundwire[{extra}]"' in result.stderr


def test_bare_install_says_what_agents_need(bare_bin: Path) -> None:
    given: list[str | Path] = [bare_bin / "groundwire", "mcp", "--server", "localhost:1", "--scope", "r::b"]
    result = subprocess.run(given, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.endswith('is not installed; pip install "groundwire[mcp]"\n')


def test_bare_install_says_what_explore_needs(bare_bin: Path) -> None:
    given: list[str | Path] = [bare_bin / "groundwire", "explore", "--server", "127.0.0.1:1"]
    result = subprocess.run(given, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert 'pip install "groundwire[explore]"' in result.stderr


def test_wheel_brings_the_page_of_explore_with_its_licence(names: list[str]) -> None:
    folder = ROOT / "client" / "groundwire_explore"
    files = {
        str(path.relative_to(folder.parent)) for part in ("static", "templates") for path in (folder / part).iterdir()
    }
    assert files <= set(names)


def _run(program: Path, *arguments: str) -> str:
    result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout
