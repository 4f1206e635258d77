"""An OpenAI-compatible HTTP server that answers from a script, on a free port of this machine."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PIECE_CHARACTERS = 5


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the script.

    `usage` is the prompt's and the completion's tokens, None for a server that does not tell. `reasoning` is sent
    before the text and apart from it. `body` is sent as it is instead of a completion. With `breaks_off` a stream ends
    in its middle. `waits` is awaited before anything is sent.
    """

    text: str = ""
    usage: tuple[int, int] | None = None
    finish: str | None = "stop"
    reasoning: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    breaks_off: bool = False
    waits: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    path: str
    authorization: str
    body: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        """The system message, if there is one, and the user's message, which is the last one."""
        *before, message = self.body["messages"]
        assert message["role"] == "user"
        rules = [earlier["content"] for earlier in before if earlier["role"] == "system"]
        return "\n\n".join([*rules, message["content"]])


@dataclass(slots=True)
class ScriptedServer:
    """Gives the replies of `script` one after the other; a request beyond its end is refused."""

    url: str
    script: list[Reply]
    requests: list[Request] = field(default_factory=list[Request])

    @property
    def prompts(self) -> list[str]:
        """The prompts so far."""
        return [request.prompt for request in self.requests]


@contextmanager
def scripted_server(script: Sequence[Reply | str], refuses: str = "") -> Iterator[ScriptedServer]:
    """A server that runs inside the `with` block; a text stands for the reply with that text.

    A request with the key `refuses` is refused, as some models refuse a temperature.
    """
    server = ScriptedServer("", [Reply(reply) if isinstance(reply, str) else reply for reply in script])

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(Request(self.path, self.headers["Authorization"], body))
            if refuses in body:
                _send(self, Reply(status=400, body=f'{{"error": {{"message": "{refuses} is not supported"}}}}'), body)
            else:
                _send(self, server.script.pop(0) if server.script else _OVER, body)

        def log_message(self, format: str, *arguments: Any) -> None:
            """Tests read what the server was asked from its requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listener:
        server.url = f"http://127.0.0.1:{listener.server_port}/v1"
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


_OVER = Reply(status=418, body='{"error": {"message": "the script is over"}}')


def _send(handler: BaseHTTPRequestHandler, reply: Reply, request: Mapping[str, Any]) -> None:
    if reply.waits is not None:
        reply.waits.wait(timeout=300)
    streamed = bool(request.get("stream")) and reply.status == 200 and reply.body is None
    content = "".join(_events(reply)) if streamed else _whole(reply)
    try:
        handler.send_response(reply.status)
        handler.send_header("Content-Type", "text/event-stream" if streamed else "application/json")
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content.encode())
    except (BrokenPipeError, ConnectionResetError):
        # The client gave up waiting, which is what some tests are about.
        handler.close_connection = True


def _whole(reply: Reply) -> str:
    if reply.body is not None:
        return reply.body
    message = {"role": "assistant", "content": reply.text, "reasoning_content": reply.reasoning}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    return json.dumps({**_head("chat.completion"), "choices": [choice], "usage": _usage(reply)})


def _events(reply: Reply) -> Iterator[str]:
    if reply.reasoning:
        yield _event([{"index": 0, "delta": {"reasoning_content": reply.reasoning}, "finish_reason": None}], None)
    pieces = [reply.text[i : i + PIECE_CHARACTERS] for i in range(0, len(reply.text), PIECE_CHARACTERS)]
    for piece in pieces[: len(pieces) // 2] if reply.breaks_off else pieces:
        yield _event([{"index": 0, "delta": {"content": piece}, "finish_reason": None}], None)
    if reply.breaks_off:
        return
    yield _event([{"index": 0, "delta": {}, "finish_reason": reply.finish}], None)
    if reply.usage is not None:
        yield _event([], _usage(reply))
    yield "data: [DONE]\n\n"


def _event(choices: list[dict[str, Any]], usage: Mapping[str, int] | None) -> str:
    return f"data: {json.dumps({**_head('chat.completion.chunk'), 'choices': choices, 'usage': usage})}\n\n"


def _head(kind: str) -> dict[str, Any]:
    return {"id": "scripted", "object": kind, "created": 0, "model": "scripted"}


def _usage(reply: Reply) -> dict[str, int] | None:
    if reply.usage is None:
        return None
    prompt, completion = reply.usage
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
