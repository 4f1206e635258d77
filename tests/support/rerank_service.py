"""An HTTP reranker on loopback, over TLS if it is given a certificate, that answers as a test tells it to."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.certificates import Certificate


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: who asked over which of its connections, and for what."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    port: int


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent. One that `drips` comes a byte at a time; one that is `cut` ends before its length."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    drips: bool = False
    cut: bool = False


@dataclass(slots=True)
class RerankService:
    """The service while it runs. `left` is set when a client goes away before its reply has been sent."""

    url: str
    answer: Callable[[Asked], Reply]
    requests: list[Asked] = field(default_factory=list[Asked])
    left: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)


def by_length(request: Asked) -> Reply:
    """Scores the longer of up to a thousand characters higher; in the order of the scores."""
    texts = request.body.get("documents") or request.body["texts"]
    ranked = sorted(enumerate(texts), key=lambda entry: -len(entry[1]))
    if "texts" in request.body:
        return as_json([{"index": index, "score": len(text) / 1_000} for index, text in ranked])
    results = [{"index": index, "relevance_score": len(text) / 1_000, "document": text} for index, text in ranked]
    return as_json({"id": "r", "results": results})


def as_json(content: object) -> Reply:
    """A reply of JSON; numbers that JSON has no words for are written as Python does."""
    return Reply(json.dumps(content).encode())


@contextmanager
def rerank_service(
    answer: Callable[[Asked], Reply] = by_length, certificate: Certificate | None = None
) -> Iterator[RerankService]:
    """A service that runs inside the `with` block."""
    service = RerankService("", answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Asked(self.path, dict(self.headers), body, self.client_address[1])
            service.requests.append(request)
            try:
                _send(self, service.answer(request), service.over)
            except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
                service.left.set()
                self.close_connection = True

        def log_message(self, format: str, *_: object) -> None:
            pass

    class Listener(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that goes away is no error here."""

    with Listener(("127.0.0.1", 0), Handler) as listener:
        if certificate is not None:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate.certificate, certificate.key)
            listener.socket = context.wrap_socket(listener.socket, server_side=True)
        service.url = f"{'https' if certificate else 'http'}://localhost:{listener.server_port}/v1/rerank"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            service.over.set()
            listener.shutdown()
            thread.join()


def _send(handler: BaseHTTPRequestHandler, reply: Reply, over: threading.Event) -> None:
    handler.send_response(reply.status)
    headers = {"Content-Length": str(len(reply.body) + reply.cut), **reply.headers}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    if not reply.drips:
        handler.wfile.write(reply.body)
    for place in range(len(reply.body) if reply.drips else 0):
        if over.wait(0.02):
            break
        handler.wfile.write(reply.body[place : place + 1])
    handler.close_connection = reply.cut or reply.drips
