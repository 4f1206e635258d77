"""Builds the clients of `examples/` as their READMEs say, in folders of their own, and runs them."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.certificates import Certificate
from support.dotnet_toolchain import INVARIANT, Dotnet
from support.tools import ROOT, run_tool

EXAMPLES = ROOT / "examples"
# Where Debian's packages put the sources of Go libraries.
GO_LIBRARIES = Path("/usr/share/gocode")
RUN_SECONDS = 300


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
    run_tool("npm", "ci", "--ignore-scripts", folder=copied)
    return ExampleClient(("node", copied / "main.js"))


def build_go(folder: Path) -> ExampleClient:
    """Generates the stubs and builds with the libraries that Debian packages, which have no modules."""
    package = shutil.copytree(
        EXAMPLES / "go", folder / "src" / "groundwire", ignore=shutil.ignore_patterns("v1", "go.sum")
    )
    (directive,) = (line for line in (package / "main.go").read_text().splitlines() if line.startswith("//go:generate"))
    protoc = directive.removeprefix("//go:generate ").replace("../../protos", str(ROOT / "protos"))
    run_tool(*protoc.split(), folder=package)
    environment = {"CGO_ENABLED": "0", "GO111MODULE": "off", "GOFLAGS": "", "GOPATH": f"{folder}:{GO_LIBRARIES}"}
    run_tool("go", "vet", ".", folder=package, environment=environment)
    run_tool("go", "build", "-o", str(folder / "evidence"), ".", folder=package, environment=environment)
    return ExampleClient((folder / "evidence",))


def build_dotnet(folder: Path, dotnet: Dotnet) -> ExampleClient:
    """Compiles the program over the client."""
    return ExampleClient(dotnet.program(folder / "evidence.dll", csharp_sources("Evidence")), INVARIANT)


def csharp_sources(project: str) -> list[Path]:
    """The sources of a project in `examples/dotnet`."""
    return sorted((EXAMPLES / "dotnet" / project).glob("*.cs"))
