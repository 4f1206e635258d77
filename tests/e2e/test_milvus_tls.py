"""Milvus over TLS, for a user with a password: answers are those of the embedded backend, and mistakes are told.

milvus-lite has neither, so a gate stands before it. The token is told nowhere, neither by the commands nor the server.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2

from support.calls_in_outages import (
    TOKEN,
    ask,
    await_answers,
    await_readiness,
    check_untold,
    index_requests,
    reading_requests,
    records,
)
from support.certificates import Authority
from support.milvus_gate import MilvusGate, milvus_gate
from support.milvus_server import MilvusServer
from support.program import Server, run, run_ok, write_jsonl
from support.workers import await_ended, separate_channel

SCOPE = ("--repository", "shop", "--branch", "main")
USER_RULE = "does not know this user: milvus_token_file or milvus_token must be user:password, or an API key"
CA_RULE = "milvus_ca must hold the authority that signed the certificate of Milvus"
MISTAKES = {
    "a wrong password": ({"TOKEN_FILE": "wrong-token"}, USER_RULE),
    "an API key that is none": ({"TOKEN_FILE": "key"}, USER_RULE),
    "no token": ({"TOKEN_FILE": None}, USER_RULE),
    "a wrong authority": ({"CA": "other.crt"}, CA_RULE),
    "the usual authorities": ({"CA": None}, CA_RULE),
    "no encryption": ({"URI": "http", "CA": None}, "milvus_uri must begin with https:// if Milvus expects TLS"),
    "another host": ({"URI": "elsewhere"}, "the certificate of Milvus must name the host of milvus_uri"),
    "encryption where there is none": ({"URI": "plain"}, "milvus_uri must begin with http:// where Milvus does not"),
}


@dataclass(frozen=True)
class Place:
    """A Milvus behind a gate, with a version in it, and the settings to reach it."""

    folder: Path
    gate: MilvusGate
    uris: Mapping[str, str]
    environment: Mapping[str, str]

    def settings(self, changed: Mapping[str, str | None]) -> dict[str, str]:
        """The settings with some changed, by the ends of their names; None leaves one out."""
        values = {name: self.uris.get(value, str(self.folder / value)) for name, value in changed.items() if value}
        kept = {name: value for name, value in self.environment.items() if name.split("MILVUS_")[-1] not in changed}
        return kept | {f"GROUNDWIRE_MILVUS_{name}": value for name, value in values.items()}


@pytest.fixture(scope="module")
def place(milvus: MilvusServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """An index that was built through the gate."""
    folder = tmp_path_factory.mktemp("tls")
    for name, token in (("token", TOKEN), ("wrong-token", f"{TOKEN}x"), ("key", "an-API-key")):
        (folder / name).write_text(token + "\n", encoding="ascii")
    authority = Authority.create(folder)
    Authority.create(folder, "other")
    named = authority.issue("milvus", addresses=["127.0.0.1"])
    misnamed = authority.issue("elsewhere", dns=["milvus.example.com"])
    with (
        milvus_gate(milvus.port, TOKEN, named) as gate,
        milvus_gate(milvus.port, TOKEN, misnamed) as elsewhere,
        milvus_gate(milvus.port, TOKEN) as plain,
    ):
        uris = {
            "http": f"http://127.0.0.1:{gate.port}",
            "elsewhere": f"https://127.0.0.1:{elsewhere.port}",
            "plain": f"https://127.0.0.1:{plain.port}",
        }
        environment = {
            "GROUNDWIRE_BACKEND": "milvus",
            "GROUNDWIRE_MILVUS_URI": f"https://127.0.0.1:{gate.port}",
            "GROUNDWIRE_MILVUS_DATABASE": milvus.new_database(),
            "GROUNDWIRE_MILVUS_TOKEN_FILE": str(folder / "token"),
            "GROUNDWIRE_MILVUS_CA": str(authority.folder / "authority.crt"),
        }
        source = write_jsonl(folder / "source.jsonl", records())
        build = ("index", source, *SCOPE, "--version", "v1", "--embedder", "none")
        run_ok(*build, "--data", folder / "embedded")
        build_run = run(*build, "--data", folder / "data", environment=environment)
        assert build_run.returncode == 0, build_run.stderr
        check_untold(build_run.stdout + build_run.stderr)
        yield Place(folder, gate, uris, environment)


@contextmanager
def serving(place: Place, environment: Mapping[str, str]) -> Iterator[tuple[Server, grpc.Channel]]:
    """A server with these settings, whose log must not tell the token."""
    settings = {**environment, "GROUNDWIRE_LOG_LEVEL": "debug"}
    with Server(place.folder / "data", "--embedder", "none", "--allow-admin", environment=settings) as server:
        with separate_channel(server.address) as channel:
            yield server, channel
        assert server.process.poll() is None
    await_ended(server)
    check_untold("".join(server.log))


def test_answers_are_those_of_the_embedded_backend(place: Place) -> None:
    requests = reading_requests()
    with Server(place.folder / "embedded", "--embedder", "none") as server, separate_channel(server.address) as channel:
        expected = await_answers(channel, requests)
    calls = place.gate.calls
    with serving(place, place.environment) as (_, channel):
        assert await_answers(channel, requests) == expected
    assert place.gate.calls > calls


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_command_tells_a_mistake_and_the_setting(place: Place, mistake: str) -> None:
    changed, rule = MISTAKES[mistake]
    ended = run("verify", *SCOPE, environment=place.settings(changed))
    assert (ended.returncode, ended.stdout) == (1, "")
    assert f"error: Milvus at {place.settings(changed)['GROUNDWIRE_MILVUS_URI']} " in ended.stderr
    assert rule in ended.stderr
    check_untold(ended.stderr)


def test_a_command_tells_what_the_user_must_be_allowed(place: Place) -> None:
    place.gate.denied = "/Query"
    try:
        ended = run("verify", *SCOPE, environment=place.environment)
    finally:
        place.gate.denied = ""
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "denies this to the user of milvus_token_file or milvus_token, who must be allowed to" in ended.stderr


@pytest.mark.parametrize("mistake", ["a wrong authority", "no encryption", "another host"])
def test_a_server_tells_its_log_a_mistake_and_callers_an_outage(place: Place, mistake: str) -> None:
    changed, rule = MISTAKES[mistake]
    with serving(place, place.settings(changed)) as (server, channel):
        for request in (reading_requests()[0], *index_requests()):
            assert ask(channel, request).reason == "ERROR_REASON_BACKEND_UNAVAILABLE"
        await_readiness(channel, health_pb2.HealthCheckResponse.NOT_SERVING)
    assert any('"not ready"' in line and rule in line for line in server.log)
    assert any('"call"' in line and rule in line for line in server.log)


def test_a_server_is_ready_while_milvus_knows_its_password(place: Place) -> None:
    requests = reading_requests()[:4]
    with serving(place, place.environment) as (server, channel):
        before = await_answers(channel, requests)
        place.gate.token = "reader:another"
        try:
            await_readiness(channel, health_pb2.HealthCheckResponse.NOT_SERVING)
            assert {ask(channel, request).reason for request in requests} == {"ERROR_REASON_BACKEND_UNAVAILABLE"}
        finally:
            place.gate.token = TOKEN
        await_readiness(channel, health_pb2.HealthCheckResponse.SERVING)
        assert await_answers(channel, requests) == before
    assert any('"not ready"' in line and USER_RULE in line for line in server.log)
