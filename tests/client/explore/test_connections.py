"""The page stays open to its reader, whatever other programs of this machine connect to it and how often."""

import re
import resource
import socket
from contextlib import ExitStack

import httpx2
import pytest

from support.program import END_SECONDS, Server, start

OPEN_FILES = 512
"""What the process may open: fewer than there are connections."""
CONNECTIONS = 700


@pytest.mark.parametrize("sent", ["", "GET / HTTP/1.1\r\nHost: "])
def test_connections_that_send_no_more_shut_out_no_reader(server: Server, sent: str) -> None:
    process = start("explore", "--server", server.address, "--port", "0")
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            address = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
            assert address is not None
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
            with ExitStack() as opened:
                for _ in range(CONNECTIONS):
                    attacker = socket.create_connection(("127.0.0.1", int(address[1])), timeout=END_SECONDS)
                    opened.enter_context(attacker).sendall(sent.encode())
                answer = httpx2.get(f"http://{address[0]}/", timeout=END_SECONDS)
                assert answer.status_code == 200
        finally:
            process.terminate()
            process.wait(END_SECONDS)
        assert "Traceback" not in (errors := process.stderr.read())
        assert len(errors) < 10_000
