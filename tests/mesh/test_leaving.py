"""Envoy leaves without losing calls: the command that its pod runs before it is stopped."""

import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

from groundwire.v1 import index_pb2, index_pb2_grpc
from support.kubernetes import manifests, pod_templates
from support.mesh import Mesh, secure_channel

pytestmark = pytest.mark.slow

CALLERS = 4
# A connection of its own. The library makes a call again which the server has not begun, as every client may.
OPTIONS = (("grpc.use_local_subchannel_pool", 1),)


def leaving_command(mesh: Mesh) -> list[str]:
    """The command with the admin port of this Envoy, and without its pauses."""
    (container,) = pod_templates(manifests("kubernetes/with-envoy"))["groundwire-envoy"]["spec"]["containers"]
    *shell, script = container["lifecycle"]["preStop"]["exec"]["command"]
    here = script.replace("/127.0.0.1/9901", f"/{mesh.envoy.admin.replace(':', '/')}")
    return [*shell, re.sub(r"sleep \d+", "true", here)]


def test_envoy_asks_every_connection_to_leave_and_fails_no_call(mesh: Mesh) -> None:
    over = threading.Event()

    def call_until_over() -> list[grpc.StatusCode]:
        codes: list[grpc.StatusCode] = []
        with secure_channel(mesh.envoy.address, mesh.identities.caller, OPTIONS) as channel:
            stub = index_pb2_grpc.IndexServiceStub(channel)
            while not over.is_set():
                codes.append(stub.ListIndexes.future(index_pb2.ListIndexesRequest(), timeout=300).code())
        return codes

    with ThreadPoolExecutor(CALLERS) as pool:
        running = [pool.submit(call_until_over) for _ in range(CALLERS)]
        try:
            mesh.envoy.await_accesses(100)
            done = subprocess.run(leaving_command(mesh), capture_output=True, text=True, timeout=300, check=False)
            mesh.envoy.await_accesses(len(mesh.envoy.accesses) + 100)
        finally:
            over.set()
        codes = {code for future in running for code in future.result()}
    assert done.stdout.startswith("HTTP/1.1 200"), done.stderr
    assert codes == {grpc.StatusCode.OK}
    assert mesh.envoy.statistics("http.callers.")["downstream_cx_drain_close"] >= CALLERS
