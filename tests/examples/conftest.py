"""The example clients, built once; servers behind Envoy, and a server that refuses calls."""

import fcntl
import os
import pickle
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import pytest

from groundwire_ingest.records import StatedAccess
from support.builds import V1, build, edge, node
from support.busy_server import BusyServer, busy_server
from support.dotnet_toolchain import Dotnet, install_dotnet
from support.example_clients import ExampleClient, build_dotnet, build_go, build_node
from support.mesh import Identities, Mesh

PUBLIC = StatedAccess(acl_tags=())
# What JSON, UTF-8 and length prefixes are prone to get wrong; Invoice.Archive is more than one frame of HTTP/2.
RECORDS = (
    node(
        "Invoice.Create",
        'void CreateInvoice() { Log("<b>&\\"\\u2028"); }',
        path="src/Invoice.cs",
        start_line=3,
        access=PUBLIC,
    ),
    node(
        "Invoice.Total",
        "decimal Summe() // Größe, 税, 🧾, \u2028, \t\r\n",
        path="src/Größe.cs",
        start_line=1,
        access=PUBLIC,
    ),
    node("Tax.Rate", "decimal Rate(string country)", access=PUBLIC),
    node(
        "Invoice.Archive",
        "invoice archive\n" + "".join(f"line{number} = {number};\n" for number in range(9_000)),
        access=PUBLIC,
    ),
    node(
        "Ledger.Book",
        "void BookInvoice()",
        path="src/Ledger.cs",
        start_line=4,
        end_line=4,
        language="csharp",
        access=StatedAccess(acl_tags=("billing",)),
    ),
    node(
        "Ledger",
        "class Ledger { void BookInvoice() { invoice.Book(); } }",
        path="src/Ledger.cs",
        language="csharp",
        access=PUBLIC,
    ),
    edge("Invoice.Create", "Invoice.Total"),
    edge("Invoice.Total", "Tax.Rate", "ReadsFrom"),
)
_MEMORY = Path("/dev/shm")
Built = TypeVar("Built")


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], Built]) -> Built:
    """What `build` makes of an empty folder; the processes of a test run share it, and the first makes it."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = shared / f"{name}.pickle"
    with (shared / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            folder = shared / name
            folder.mkdir()
            made.write_bytes(pickle.dumps(build(folder)))
    built: Built = pickle.loads(made.read_bytes())
    return built


@pytest.fixture(scope="session")
def dotnet(tmp_path_factory: pytest.TempPathFactory) -> Dotnet:
    """The .NET client, compiled, and what compiles programs over it."""
    return built_once(tmp_path_factory, "dotnet-client", install_dotnet)


@pytest.fixture(scope="session", params=["dotnet", "node", "go"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ExampleClient:
    """One client after the other."""
    builds: dict[str, Callable[[Path], ExampleClient]] = {"node": build_node, "go": build_go}
    if request.param == "dotnet":
        builds["dotnet"] = partial(build_dotnet, dotnet=request.getfixturevalue("dotnet"))
    return built_once(tmp_path_factory, request.param, builds[request.param])


@pytest.fixture(scope="session")
def mesh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Two servers behind Envoy, with mutual TLS on both hops."""
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as data:
        build(Path(data), RECORDS, V1)
        with Mesh(tmp_path_factory.mktemp("mesh"), Path(data), "--embedder", "none") as mesh:
            yield mesh


@pytest.fixture(scope="session")
def identities(tmp_path_factory: pytest.TempPathFactory) -> Identities:
    """The certificates of the busy server and its caller."""
    return Identities(tmp_path_factory.mktemp("certificates"))


@pytest.fixture
def busy(identities: Identities) -> Iterator[BusyServer]:
    """A server that answers unless it is told to refuse."""
    with busy_server(identities.server) as server:
        yield server
