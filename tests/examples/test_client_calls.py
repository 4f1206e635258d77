"""How each example client calls: deadline, retries, token, and what it trusts."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from groundwire_ingest.records import StatedAccess
from support.builds import V1, build, node
from support.busy_server import MESSAGE, BusyServer, refusal
from support.certificates import Authority
from support.example_clients import ExampleClient
from support.mesh import Identities
from support.program import Server

pytestmark = pytest.mark.slow

UNAVAILABLE, EXHAUSTED = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED
ACTIONS = ["SearchNodes", "ExpandDependencyTree", "FetchNodeTexts"]
MAX_ATTEMPTS = 4
# To .NET's gRPC, only a failure of the network is UNAVAILABLE.
TLS_FAILURES = [(1, "UNAVAILABLE"), (1, "INTERNAL")]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`groundwire serve` before an index without vectors."""
    data = tmp_path_factory.mktemp("plain")
    build(data, [node("Invoice", "class Invoice", access=StatedAccess(acl_tags=()))], V1)
    with Server(data, "--embedder", "none") as server:
        yield server


def methods(busy: BusyServer) -> list[str]:
    return [attempt.method for attempt in busy.attempts]


def test_waits_as_long_as_the_server_asks(client: ExampleClient, busy: BusyServer, identities: Identities) -> None:
    busy.refusals = [refusal(EXHAUSTED, timedelta(seconds=1.25)), refusal(UNAVAILABLE)]
    outcome = client.run(busy.address, identities.caller)
    assert outcome.exit_code == 0
    assert [line["type"] for line in outcome.lines] == ["hit", "text", "done"]
    assert methods(busy) == ["SearchNodes", "SearchNodes", *ACTIONS]
    first, second = outcome.notices.splitlines()
    # .NET spells statuses in its own way.
    assert first.upper().replace("_", "") == "SEARCHNODES: RESOURCEEXHAUSTED, TRYING AGAIN IN 1.25 S"
    assert second.upper().startswith("SEARCHNODES: UNAVAILABLE, TRYING AGAIN IN 0.")
    waited = busy.attempts[0].seconds_left - busy.attempts[1].seconds_left
    assert waited > 1, "all attempts share one deadline"


@pytest.mark.parametrize(
    ("code", "retry_after", "attempts"),
    [
        (UNAVAILABLE, None, MAX_ATTEMPTS),
        (EXHAUSTED, timedelta(0), MAX_ATTEMPTS),
        (EXHAUSTED, timedelta(minutes=1), 1),
        (EXHAUSTED, None, 1),
        (grpc.StatusCode.INTERNAL, None, 1),
    ],
    ids=["unavailable", "exhausted", "beyond the deadline", "exhausted for good", "internal"],
)
def test_gives_up(
    client: ExampleClient,
    busy: BusyServer,
    identities: Identities,
    code: grpc.StatusCode,
    retry_after: timedelta | None,
    attempts: int,
) -> None:
    busy.refusals = [refusal(code, retry_after) for _ in range(MAX_ATTEMPTS + 1)]
    outcome = client.run(busy.address, identities.caller)
    assert outcome.exit_code == 1
    assert methods(busy) == ["SearchNodes"] * attempts
    assert outcome.lines == [
        {
            "type": "error",
            "method": "SearchNodes",
            "status": code.name,
            "message": MESSAGE,
            "reason": "ERROR_REASON_OVERLOADED",
            "metadata": {"method": "SearchNodes"},
            "violations": [],
        }
    ]


def test_every_call_has_a_deadline(client: ExampleClient, busy: BusyServer, identities: Identities) -> None:
    assert client.run(busy.address, identities.caller, "--deadline", "60").exit_code == 0
    assert methods(busy) == ACTIONS
    assert all(0 < attempt.seconds_left <= 60 for attempt in busy.attempts)


def test_a_call_ends_at_its_deadline(client: ExampleClient, busy: BusyServer, identities: Identities) -> None:
    busy.hold.clear()
    outcome = client.run(busy.address, identities.caller, "--deadline", "10")
    (line,) = outcome.lines
    assert (outcome.exit_code, line["status"], line["method"]) == (1, "DEADLINE_EXCEEDED", "SearchNodes")
    assert methods(busy) == ["SearchNodes"]


def test_every_call_brings_the_token(
    client: ExampleClient, busy: BusyServer, identities: Identities, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("a.b.c\n", encoding="ascii")
    assert client.run(busy.address, identities.caller, "--token-file", str(token)).exit_code == 0
    assert [attempt.metadata["authorization"] for attempt in busy.attempts] == ["Bearer a.b.c"] * 3


def test_no_token_unless_one_is_given(client: ExampleClient, busy: BusyServer, identities: Identities) -> None:
    assert client.run(busy.address, identities.caller).exit_code == 0
    assert all("authorization" not in attempt.metadata for attempt in busy.attempts)


def test_a_server_of_another_authority_is_not_called(
    client: ExampleClient, busy: BusyServer, identities: Identities, tmp_path: Path
) -> None:
    Authority.create(tmp_path, "rogue")
    outcome = client.run(busy.address, identities.caller, "--ca", str(tmp_path / "rogue.crt"))
    (line,) = outcome.lines
    assert (outcome.exit_code, line["status"]) in TLS_FAILURES
    assert busy.attempts == []


def test_a_server_of_another_name_is_not_called(
    client: ExampleClient, busy: BusyServer, identities: Identities
) -> None:
    outcome = client.run(busy.address.replace("localhost", "127.0.0.1"), identities.caller)
    (line,) = outcome.lines
    assert (outcome.exit_code, line["status"]) in TLS_FAILURES
    assert busy.attempts == []


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"--top-k": "many"}, "must be a whole number of 32 bits"),
        ({"--top-k": "2147483648"}, "must be a whole number of 32 bits"),
        ({"--deadline": "0"}, "must be a number above 0 and at most 3600"),
        ({"--call": "ask"}, "must be actions or evidence"),
        ({"--search-type": "fuzzy"}, "must be hybrid, semantic or bm25"),
        ({"--ca": "absent.pem"}, "absent.pem"),
        ({"--key": "absent.pem"}, "absent.pem"),
        ({"--token-file": "absent.txt"}, "absent.txt"),
        ({"--surprise": "1"}, "surprise"),
    ],
)
def test_options_that_cannot_be_used_end_with_2(
    client: ExampleClient, identities: Identities, options: dict[str, str], rule: str
) -> None:
    arguments = [part for pair in options.items() for part in pair]
    outcome = client.run("localhost:1", identities.caller, *arguments)
    assert (outcome.exit_code, outcome.lines) == (2, [])
    assert rule in outcome.notices


def test_required_options_are_named(client: ExampleClient) -> None:
    done = client.run_with("--server", "localhost:1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "-repository is required" in done.stderr


@pytest.mark.parametrize("option", ["--ca", "--cert", "--key", "--token-file"])
def test_without_all_files_of_tls_nothing_is_called(client: ExampleClient, option: str) -> None:
    """An empty name, as of a variable that is not set, is no name of a file either."""
    options = ("--repository", "shop", "--branch", "main", "--query", "invoice")
    done = client.run_with(*options, option, "")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"-{'cert' if option == '--ca' else 'ca'} is required" in done.stderr


@pytest.mark.parametrize("call", ["actions", "evidence"])
def test_a_server_as_it_starts_by_default_needs_no_options(client: ExampleClient, plain: Server, call: str) -> None:
    """No TLS, no token, and the search that the index has data for."""
    options = ("--server", plain.address, "--repository", "shop", "--branch", "main", "--query", "invoice")
    done = client.run_with(*options, "--call", call)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert "shop::main::cs::Invoice" in [line["id"] for line in lines if line["type"] == "text"]
