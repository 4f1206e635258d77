"""Servers behind Envoy, and plain HTTP to it."""

import http.client
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from groundwire_index.store.store import IndexStore
from support.builds import V1, V2, build, node
from support.certificates import Certificate
from support.mesh import Mesh

_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer over HTTP/1.1; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Post = Callable[..., HttpAnswer]


@pytest.fixture(scope="session")
def data() -> Iterator[Path]:
    """A data folder with two versions of one index, of which v2 is active."""
    with TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as directory:
        folder = Path(directory)
        for scope, count in ((V1, 10), (V2, 20)):
            nodes = [node(f"Invoice.M{number}", f"void InvoiceMethod{number}() {{ }}") for number in range(count)]
            build(folder, nodes, scope)
        IndexStore(folder).activate(V2)
        yield folder


@pytest.fixture(scope="module")
def mesh(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """Two servers that every test leaves running."""
    with Mesh(tmp_path_factory.mktemp("mesh"), data, "--embedder", "none") as mesh:
        yield mesh


@pytest.fixture(scope="module")
def post(mesh: Mesh) -> Post:
    """Posts to Envoy as the caller, or with a certificate of its own or (None) without one."""

    def post(
        path: str,
        body: bytes | str,
        content_type: str = "application/json",
        caller: Certificate | None = mesh.identities.caller,
        **headers: str,
    ) -> HttpAnswer:
        context = ssl.create_default_context(cafile=str(mesh.identities.server.authority))
        if caller is not None:
            context.load_cert_chain(caller.certificate, caller.key)
        port = int(mesh.envoy.address.rpartition(":")[2])
        connection = http.client.HTTPSConnection("localhost", port, context=context, timeout=300)
        try:
            connection.request("POST", path, body, {"content-type": content_type, **headers})
            answer = connection.getresponse()
            names = {name.lower(): value for name, value in answer.getheaders()}
            return HttpAnswer(answer.status, names, answer.read())
        finally:
            connection.close()

    return post
