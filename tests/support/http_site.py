"""An HTTP server on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class HttpSite:
    """What the server answers to every request; while it drips, one byte at a time before the body.

    `drips_before` is what it sends again and again before its answer begins.
    """

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b"{}"
    drips: bool = False
    drips_before: bytes = b""
    over: threading.Event = field(default_factory=threading.Event)


@contextmanager
def http_site() -> Iterator[HttpSite]:
    """A server that answers while the context lasts."""
    site = HttpSite()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            try:
                while site.drips_before and not site.over.wait(0.02):
                    self.wfile.write(site.drips_before)
            except (BrokenPipeError, ConnectionResetError):
                return
            self.send_response(site.status)
            for name, value in site.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                while site.drips and not site.over.wait(0.02):
                    self.wfile.write(b" ")
                self.wfile.write(site.body)
            except (BrokenPipeError, ConnectionResetError):
                pass

        def log_message(self, format: str, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_port}/keys"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield site
    finally:
        site.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
