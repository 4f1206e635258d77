"""The example of ASP.NET Core before a real server: evidence, errors as problem details, health."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from groundwire_ingest.records import StatedAccess
from support.builds import V1, build, node
from support.dotnet_toolchain import INVARIANT, Dotnet
from support.example_clients import csharp_sources
from support.program import Server

pytestmark = pytest.mark.slow

RECORDS = (
    node(
        "Invoice.Create",
        "void CreateInvoice()",
        path="src/Invoice.cs",
        start_line=3,
        end_line=5,
        language="csharp",
        symbol="Invoice.Create",
        access=StatedAccess(acl_tags=()),
    ),
    node("Invoice.Table", "create table invoice", language="tsql", access=StatedAccess(acl_tags=())),
    node("Invoice.Secret", "secret invoice", language="csharp", access=StatedAccess(acl_tags=("billing",))),
)


@pytest.fixture(scope="module")
def command(dotnet: Dotnet, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Runs the example."""
    folder = tmp_path_factory.mktemp("aspnetcore")
    return [str(part) for part in dotnet.program(folder / "service.dll", csharp_sources("AspNetCore"))]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """What the service asks."""
    data = tmp_path_factory.mktemp("data")
    build(data, RECORDS, V1)
    with Server(data, "--embedder", "none") as server:
        yield server


@contextmanager
def service(command: list[str], folder: Path, **settings: str) -> Iterator[str]:
    """The address of the service, while it runs with these settings of the section `Groundwire`."""
    environment = {
        **INVARIANT,
        "ASPNETCORE_URLS": "http://127.0.0.1:0",
        **{f"Groundwire__{name}": value for name, value in settings.items()},
    }
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            listening = next(line for line in process.stdout if "Now listening on: " in line)
            yield listening.rpartition(" ")[2].strip()
        finally:
            process.terminate()
            process.stdout.read()


def get(url: str, **parameters: str) -> tuple[int, str]:
    """Status and body."""
    try:
        with urlopen(f"{url}?{urlencode(parameters)}", timeout=300) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_the_service_answers_with_evidence_and_problems(command: list[str], server: Server, tmp_path: Path) -> None:
    settings = {"Address": f"http://{server.address}", "Repository": "shop", "Branch": "main", "BudgetTokens": "200"}
    with service(command, tmp_path, **settings) as address:
        status, body = get(f"{address}/evidence", question="invoice")
        evidence = json.loads(body)
        assert status == 200
        assert sorted(text["symbol"] or text["text"] for text in evidence["texts"]) == [
            "Invoice.Create",
            "create table invoice",
        ]
        assert evidence["index"] == "v1"
        status, body = get(f"{address}/evidence", question="invoice", language="csharp", is_test="false")
        (text,) = json.loads(body)["texts"]
        assert (text["path"], text["startLine"], text["endLine"]) == ("src/Invoice.cs", 3, 5)
        status, body = get(f"{address}/evidence", question=" ")
        problem = json.loads(body)
        assert (status, problem["title"]) == (400, "ERROR_REASON_FIELD_REQUIRED")
        assert [broken["field"] for broken in problem["violations"]] == ["question"]
        assert get(f"{address}/healthz/ready") == (200, "Healthy")


def test_the_service_tells_of_a_server_without_the_index(command: list[str], server: Server, tmp_path: Path) -> None:
    settings = {"Address": f"http://{server.address}", "Repository": "shop", "Branch": "main"}
    # An argument wins over the configuration.
    with service([*command, "--Groundwire:Repository=absent"], tmp_path, **settings) as address:
        status, body = get(f"{address}/evidence", question="invoice")
        assert (status, json.loads(body)["title"]) == (404, "ERROR_REASON_SCOPE_NOT_FOUND")
        assert get(f"{address}/healthz/ready") == (503, "Unhealthy")
        assert get(f"{address}/healthz/live") == (200, "Healthy")


def test_the_service_does_not_start_with_options_that_break_a_rule(command: list[str], tmp_path: Path) -> None:
    environment = {**INVARIANT, "ASPNETCORE_URLS": "http://127.0.0.1:0", "Groundwire__Address": "localhost:50051"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    assert "Address: 'localhost:50051' must be http://HOST:PORT or https://HOST:PORT" in done.stderr + done.stdout
