"""The compared routes to a server: without TLS, with mutual TLS, and through Envoy with mutual TLS on both hops."""

import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bench.load.certificates import Identity, issue_identities
from bench.shared.programs import running, serve_command

DIRECT, TLS, ENVOY = "direct", "mTLS", "Envoy, mTLS"
ROUTES = (DIRECT, TLS, ENVOY)
_DEPLOYED = Path(__file__).parents[2] / "deploy" / "envoy"
_INSTALLED = "/etc/envoy"
_START_SECONDS = 30.0
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Route:
    """The target of calls, with the files of CA, key and certificate that a caller needs, if any."""

    name: str
    address: str
    tls: Sequence[str]


@contextmanager
def running_routes(names: Sequence[str], data: Path, work: Path) -> Iterator[list[Route]]:
    """Starts a server for each kind of transport, and Envoy before one of them as `deploy/envoy` configures it.

    Raises RuntimeError when a program does not start.
    """
    server, envoy, caller = issue_identities(work / "certificates", ("server", "envoy", "caller"))
    caller_files = (str(caller.authority), str(caller.key), str(caller.certificate))
    files = {"certificate": server.certificate, "key": server.key, "client-ca": server.authority}
    tls_options = [word for name, path in files.items() for word in (f"--tls-{name}", str(path))]
    with ExitStack() as stack:
        routes = []
        if DIRECT in names:
            plain = stack.enter_context(running(serve_command(data), work / "server.log"))
            routes.append(Route(DIRECT, plain.address, ()))
        if {TLS, ENVOY} & set(names):
            secure = stack.enter_context(running(serve_command(data, tls_options), work / "server-tls.log"))
            if TLS in names:
                routes.append(Route(TLS, secure.address, caller_files))
            if ENVOY in names:
                address = stack.enter_context(_running_envoy(work / "envoy", envoy, secure.address))
                routes.append(Route(ENVOY, address, caller_files))
        yield routes


@contextmanager
def _running_envoy(folder: Path, identity: Identity, server: str) -> Iterator[str]:
    """Runs Envoy before a server, and yields the address for callers."""
    configuration, admin_file = _write_configuration(folder, identity, server), folder / "admin-address"
    admin_file.unlink(missing_ok=True)
    command = [
        str(Path(sys.executable).with_name("envoy")), "--config-path", str(configuration), "--admin-address-path",
        str(admin_file), "--concurrency", "2", "--disable-hot-restart", "--log-level", "warning",
    ]  # fmt: skip
    with (folder / "envoy.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
    try:
        yield _await_envoy(process, admin_file, folder / "envoy.log")
    finally:
        process.terminate()
        process.wait()


def _write_configuration(folder: Path, identity: Identity, server: str) -> Path:
    """`deploy/envoy` with other addresses and paths, and nothing else changed."""
    shutil.copytree(_DEPLOYED, folder, dirs_exist_ok=True)
    for path in folder.rglob("*.yaml"):
        path.write_text(path.read_text(encoding="utf-8").replace(_INSTALLED, str(folder)), encoding="utf-8")
    (folder / "identity").mkdir(exist_ok=True)
    for name, source in (("tls.crt", identity.certificate), ("tls.key", identity.key), ("ca.crt", identity.authority)):
        shutil.copy(source, folder / "identity" / name)
    path = folder / "envoy.yaml"
    configuration: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    free = _socket_address("127.0.0.1:0")
    configuration["admin"]["address"] = free
    resources = configuration["static_resources"]
    resources["listeners"] = [
        {**listener, "address": free} for listener in resources["listeners"] if listener["name"] == "callers"
    ]
    resources["clusters"] = [cluster for cluster in resources["clusters"] if cluster["name"] == "groundwire"]
    (locality,) = resources["clusters"][0]["load_assignment"]["endpoints"]
    locality["lb_endpoints"] = [{"endpoint": {"address": _socket_address(server)}}]
    path.write_text(yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8")
    return path


def _socket_address(address: str) -> dict[str, object]:
    host, _, port = address.rpartition(":")
    return {"socket_address": {"address": host, "port_value": int(port)}}


def _await_envoy(process: "subprocess.Popen[bytes]", admin_file: Path, log: Path) -> str:
    """Waits until Envoy finds the server healthy; returns the callers' address. Raises RuntimeError."""
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        admin = admin_file.read_text(encoding="utf-8") if admin_file.exists() else ""
        if admin and "membership_healthy: 1" in _ask(admin, "/stats?filter=cluster.groundwire.membership_healthy"):
            return _ask(admin, "/listeners").strip().removeprefix("callers::")
        time.sleep(_LOOK_SECONDS)
    raise RuntimeError(f"envoy did not start: {log.read_text(encoding='utf-8')[-2_000:]}")


def _ask(admin: str, path: str) -> str:
    with urllib.request.urlopen(f"http://{admin}{path}", timeout=_START_SECONDS) as answer:
        return str(answer.read().decode())
