"""Compiles the .NET client and runs programs on it, with what PyPI, npm and Debian offer in place of an SDK and NuGet.

| what | from |
| --- | --- |
| the C# compiler, ASP.NET Core and its runtime | packages of npm, `tests/examples/dotnet/package.json` |
| Google.Protobuf | the source of Debian's package `protobuf`, compiled |
| messages of the protos | Debian's protoc |
| Grpc.Core.Api, Grpc.Net.Client and Grpc.Net.ClientFactory | `tests/examples/dotnet/*.cs`, which stand in for them |
| clients of services | `csharp_services.py`, in place of protoc's plugin |
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path

from groundwire.v1 import errors_pb2, evidence_pb2, index_pb2, query_pb2, retrieval_pb2, scope_pb2
from support.compile_csharp import Compilation, dotnet_root
from support.csharp_services import service_clients
from support.tools import ROOT, run_tool

CLIENT = ROOT / "client" / "dotnet" / "Groundwire.Client"
STAND_INS = ROOT / "tests" / "examples" / "dotnet"
INVARIANT = {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
_FILES = tuple(part.DESCRIPTOR for part in (errors_pb2, evidence_pb2, index_pb2, query_pb2, retrieval_pb2, scope_pb2))
_FRAMEWORK = "Microsoft.NETCore.App"
_PLATFORM = ".NETCoreApp,Version=v9.0/linux-x64"


@dataclass(frozen=True, slots=True)
class Dotnet:
    """What compiles and runs programs over the client."""

    folder: Path

    @property
    def libraries(self) -> list[Path]:
        """The client, and what it needs beside the framework."""
        return [self.folder / name for name in ("Google.Protobuf.dll", "Grpc.dll", "Groundwire.Client.dll")]

    @property
    def framework(self) -> list[str]:
        """The assemblies of .NET and ASP.NET Core."""
        return [str(path) for path in sorted((self.folder / "shared" / _FRAMEWORK).glob("*/*.dll"))]

    def program(self, assembly: Path, sources: Sequence[Path]) -> list[str | Path]:
        """Compiles a program beside copies of the libraries, and returns the command that runs it."""
        diagnostics = self.compile(self.plan(assembly, sources))
        assert diagnostics == [], diagnostics
        for library in self.libraries:
            shutil.copy(library, assembly.parent)
        options = {"framework": {"name": _FRAMEWORK, "version": _version(self.folder)}}
        assembly.with_suffix(".runtimeconfig.json").write_text(json.dumps({"runtimeOptions": options}))
        return [self.folder / "dotnet", assembly]

    def plan(self, assembly: Path, sources: Sequence[Path]) -> Compilation:
        """A program over the client."""
        references = [*self.framework, *(str(path) for path in self.libraries)]
        return Compilation(str(assembly), [str(path) for path in sources], references, is_program=True)

    def compile(self, *compilations: Compilation) -> list[str]:
        """Compiles in order, and returns what the compiler says."""
        plan = Path(compilations[-1].assembly).with_suffix(".plan.json")
        plan.write_text(json.dumps([asdict(compilation) for compilation in compilations]))
        script = Path(__file__).with_name("compile_csharp.py")
        done = subprocess.run(
            [sys.executable, "-P", script, self.folder / "node_modules" / "@autorest" / "csharp", plan],
            capture_output=True,
            text=True,
            env={**os.environ, **INVARIANT},
            timeout=300,
            check=False,
        )
        assert done.stderr == "", done.stderr
        return done.stdout.split("\n")[:-1] if done.returncode else []


def install_dotnet(folder: Path) -> Dotnet:
    """Installs everything, and compiles the client."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(STAND_INS / name, folder)
    run_tool("npm", "ci", "--ignore-scripts", folder=folder)
    _lay_out_runtime(folder)
    dotnet = Dotnet(folder)
    diagnostics = dotnet.compile(*_client(dotnet, folder))
    assert diagnostics == [], diagnostics
    return dotnet


def _client(dotnet: Dotnet, folder: Path) -> list[Compilation]:
    runtime = sorted(str(path) for path in _protobuf_source(folder).rglob("*.cs"))
    google = _generated(folder / "google", "google/rpc/status.proto", "google/rpc/error_details.proto")
    messages = _generated(folder / "messages", *(file.name for file in _FILES))
    services = folder / "Services.cs"
    services.write_text(service_clients(_FILES), encoding="utf-8")
    stand_ins = sorted(str(path) for path in STAND_INS.glob("*.cs"))
    client_sources = sorted(str(path) for path in CLIENT.glob("*.cs"))
    protobuf, grpc, client = (str(path) for path in dotnet.libraries)
    framework = dotnet.framework
    return [
        Compilation(protobuf, runtime, framework, vendored=True),
        Compilation(grpc, [*stand_ins, *google], [*framework, protobuf]),
        Compilation(client, [*client_sources, *messages, str(services)], [*framework, protobuf, grpc], documented=True),
    ]


def _generated(folder: Path, *protos: str) -> list[str]:
    """What protoc makes of protos."""
    folder.mkdir()
    includes = [ROOT / "protos", _package("google.rpc").parents[1], _package("grpc_tools") / "_proto"]
    run_tool("protoc", *(f"-I{path}" for path in includes), f"--csharp_out={folder}", *protos, folder=folder)
    return sorted(str(path) for path in folder.glob("*.cs"))


def _package(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations)))


def _protobuf_source(folder: Path) -> Path:
    """The sources of Google.Protobuf, by apt with a state of its own: sources need no root."""
    state = folder / "apt"
    for part in ("lists/partial", "cache/archives/partial", "parts"):
        (state / part).mkdir(parents=True)
    targets = ("indextargets", "--format", "deb-src $(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages")
    entries = set(run_tool("apt-get", *targets, "Label: Debian", folder=state).splitlines())
    (state / "sources.list").write_text("\n".join(sorted(entries)) + "\n", encoding="utf-8")
    options = [
        f"--option={key}={value}"
        for key, value in {
            "Dir::Etc::SourceList": state / "sources.list",
            "Dir::Etc::SourceParts": state / "parts",
            "Dir::State::Lists": state / "lists",
            "Dir::Cache": state / "cache",
            "APT::Sandbox::User": "",
        }.items()
    ]
    run_tool("apt-get", *options, "update", folder=state)
    run_tool("apt-get", *options, "source", "--download-only", "protobuf", folder=state)
    (archive,) = state.glob("protobuf_*.orig.tar.*")
    with tarfile.open(archive) as packed:
        wanted = [member for member in packed if "/csharp/src/Google.Protobuf/" in member.name]
        packed.extractall(state, wanted, filter="data")
    return state


def _lay_out_runtime(folder: Path) -> None:
    """Makes a folder as the launcher wants it, of the assemblies of a program that carries its own runtime."""
    carried = folder / "node_modules" / "@azure" / "mcp-linux-x64" / "dist"
    shared = folder / "shared" / _FRAMEWORK / _version(folder)
    shared.mkdir(parents=True)
    kinds: dict[str, dict[str, dict[str, str]]] = {"runtime": {}, "native": {}}
    for path in sorted((*carried.glob("*.dll"), *carried.glob("*.so"))):
        if path.suffix == ".so" or path.name.startswith(("Microsoft.", "System.", "mscorlib.", "netstandard.")):
            (shared / path.name).symlink_to(path)
            kinds["native" if path.suffix == ".so" else "runtime"][path.name] = {}
    library = f"{_FRAMEWORK}.Runtime/{_version(folder)}"
    described = {
        "runtimeTarget": {"name": _PLATFORM},
        "targets": {_PLATFORM: {library: kinds}},
        "libraries": {library: {"type": "package", "serviceable": False, "sha512": ""}},
    }
    (shared / f"{_FRAMEWORK}.deps.json").write_text(json.dumps(described))
    # The package's launcher may not be executed, and finds the runtime beside itself.
    Path(shutil.copy(dotnet_root() / "dotnet", folder / "dotnet")).chmod(0o755)
    (folder / "host").symlink_to(dotnet_root() / "host")


def _version(folder: Path) -> str:
    """The version of the runtime that a package of npm carries."""
    configuration = folder / "node_modules" / "@azure" / "mcp-linux-x64" / "dist" / "azmcp.runtimeconfig.json"
    frameworks = json.loads(configuration.read_text(encoding="utf-8"))["runtimeOptions"]["includedFrameworks"]
    (version,) = {str(framework["version"]) for framework in frameworks}
    return version
