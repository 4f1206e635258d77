import asyncio
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote

import pytest
from pydantic import JsonValue

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.models.endpoint import ModelEndpoint
from groundwire_pipelines.models.openai_model import MAX_REPLY_BYTES, OpenAIModel
from groundwire_pipelines.runtime import Message, ModelAnswer, ModelRequest, ResponseSchema
from support.openai_server import PIECE_CHARACTERS, Reply, ScriptedServer, scripted_server
from support.retrieval import WordCounter

AT_ONCE = {"retry-after-ms": "1"}
QUESTION = ModelRequest((Message("user", "What is VAT?"),))


def ask(
    server: ScriptedServer,
    on_text: Callable[[str], None] | None = None,
    *,
    request: ModelRequest = QUESTION,
    key: str = "secret",
    timeout_seconds: float = 20.0,
    retries: int = 0,
    max_reply_bytes: int = MAX_REPLY_BYTES,
) -> ModelAnswer:
    endpoint = ModelEndpoint(server.url, "small", key, timeout_seconds, retries)

    return asyncio.run(OpenAIModel(endpoint, WordCounter(), max_reply_bytes).complete(request, on_text=on_text))


def test_asks_the_configured_model_once_and_sends_nothing_that_was_not_set() -> None:
    with scripted_server([Reply("A tax.", usage=(11, 3))]) as server:
        assert ask(server) == ModelAnswer("A tax.", 11, 3)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.authorization == "Bearer secret"
    assert request.body == {"model": "small", "messages": [{"role": "user", "content": "What is VAT?"}]}


@pytest.mark.parametrize("on_text", [None, [].append])
def test_sends_all_that_was_set(on_text: Callable[[str], None] | None) -> None:
    schema: dict[str, JsonValue] = {"type": "object"}
    request = ModelRequest(
        (Message("system", "Be brief."), Message("user", "What is VAT?")),
        model="large",
        temperature=0.0,
        max_tokens=50,
        response_schema=ResponseSchema("plan", schema),
    )
    with scripted_server(["{}"]) as server:
        assert ask(server, on_text, request=request) == ModelAnswer("{}", 5, 1)
    body = dict(server.requests[0].body)
    assert (body.pop("stream", None) is True) == (on_text is not None)
    body.pop("stream_options", None)
    assert body == {
        "model": "large",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is VAT?"}],
        "temperature": 0.0,
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": {"name": "plan", "schema": schema}},
    }


def test_a_failure_names_the_model_that_was_asked() -> None:
    request = replace(QUESTION, model="large")
    with scripted_server([Reply(status=404, body="{}")]) as server, pytest.raises(StepError) as caught:
        ask(server, request=request)
    assert caught.value.message.startswith(f"the model large at {server.url}")


@pytest.mark.parametrize("on_text", [None, [].append])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_prompt_is_sent_to_no_other_place(status: int, on_text: Callable[[str], None] | None) -> None:
    """Prompts have source texts, and the endpoint is the only one that is trusted with them."""
    with scripted_server(["stolen"]) as other:
        redirect = Reply(status=status, body="{}", headers={"Location": f"{other.url}/chat/completions"})
        with scripted_server([redirect]) as server, pytest.raises(StepError) as caught:
            ask(server, on_text)
    assert other.requests == []
    assert caught.value.rule == "model-request-refused"
    assert f"redirect ({status})" in caught.value.message


@pytest.mark.parametrize("on_text", [None, [].append])
@pytest.mark.parametrize("key", ["sk-secret", 'sk/"secret\\"+='])
@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_an_error_quotes_no_key_that_comes_back(status: int, key: str, on_text: Callable[[str], None] | None) -> None:
    message = f"no such key: Bearer {key}; {quote(key)}; " + "x" * 250 + key
    body = json.dumps({"error": {"message": message, "key": key, "code": None}})
    with scripted_server([Reply(status=status, body=body)]) as server, pytest.raises(StepError) as caught:
        ask(server, on_text, key=key)
    assert "secret" not in caught.value.message
    assert "no such key: Bearer (the key); (the key)" in caught.value.message


def test_an_error_names_no_login_of_the_address() -> None:
    endpoint = ModelEndpoint("http://user:secret@127.0.0.1:1/v1", "small")
    with pytest.raises(StepError, match=r"at http://127\.0\.0\.1:1/v1") as caught:
        asyncio.run(OpenAIModel(endpoint, WordCounter()).complete(QUESTION))
    assert "secret" not in caught.value.message


@pytest.mark.parametrize("on_text", [None, [].append])
@pytest.mark.parametrize("finish", ["stop", "eos", "end_turn", None])
def test_how_a_whole_answer_ended_does_not_matter(finish: str | None, on_text: Callable[[str], None] | None) -> None:
    with scripted_server([Reply("A tax.", finish=finish, usage=(11, 3))]) as server:
        assert ask(server, on_text) == ModelAnswer("A tax.", 11, 3)


@pytest.mark.parametrize("streams", [False, True])
def test_reasoning_that_comes_apart_is_no_text(streams: bool) -> None:
    pieces: list[str] = []
    with scripted_server([Reply("A tax.", reasoning="Hm, a secret.")]) as server:
        assert ask(server, pieces.append if streams else None).text == "A tax."
    assert "".join(pieces) == ("A tax." if streams else "")


def test_one_model_serves_several_event_loops_and_calls_at_the_same_time() -> None:
    with scripted_server(["one", "two", "three"]) as server:
        model = OpenAIModel(ModelEndpoint(server.url, "small"), WordCounter())

        async def two() -> set[str]:
            streamed = model.complete(QUESTION, on_text=list[str]().append)
            return {answer.text for answer in await asyncio.gather(model.complete(QUESTION), streamed)}

        texts = asyncio.run(two())
        texts.add(asyncio.run(model.complete(QUESTION)).text)
    assert texts == {"one", "two", "three"}


def test_an_endpoint_without_keys_gets_none_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "of-another-service")
    with scripted_server(["A tax."]) as server:
        ask(server, key="")
    assert server.requests[0].authorization == "Bearer none"


@pytest.mark.parametrize("on_text", [None, [].append])
def test_counts_tokens_where_the_endpoint_does_not_tell(on_text: Callable[[str], None] | None) -> None:
    with scripted_server(["A tax on sales."]) as server:
        assert ask(server, on_text=on_text) == ModelAnswer("A tax on sales.", 3, 4)


def test_streams_the_pieces_as_they_come() -> None:
    pieces: list[str] = []
    with scripted_server([Reply("A tax on sales.", usage=(11, 3))]) as server:
        answer = ask(server, on_text=pieces.append)
    assert answer == ModelAnswer("A tax on sales.", 11, 3)
    assert "".join(pieces) == answer.text
    assert max(map(len, pieces)) == PIECE_CHARACTERS
    assert server.requests[0].body["stream"] is True


def test_an_endpoint_may_be_given_tries() -> None:
    with scripted_server([Reply(status=429, body="{}", headers=AT_ONCE)] * 2 + [Reply("A tax.")]) as server:
        assert ask(server, retries=2).text == "A tax."
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("status", "rule", "may_pass"),
    [
        (400, "model-request-refused", False),
        (401, "model-unauthorised", False),
        (403, "model-unauthorised", False),
        (404, "model-not-found", False),
        (408, "model-request-refused", True),
        (409, "model-request-refused", True),
        (422, "model-request-refused", False),
        (429, "model-overloaded", True),
        (500, "model-failed", True),
        (503, "model-failed", True),
    ],
)
@pytest.mark.parametrize("on_text", [None, [].append])
def test_every_status_of_failure_has_a_rule_and_ends_the_call_at_once(
    status: int, rule: str, may_pass: bool, on_text: Callable[[str], None] | None
) -> None:
    reply = Reply(status=status, body='{"error": {"message": "no, because"}}', headers=AT_ONCE)
    with scripted_server([reply]) as server, pytest.raises(StepError, match="no, because") as caught:
        ask(server, on_text=on_text)
    assert (caught.value.rule, caught.value.may_pass) == (rule, may_pass)
    assert f"the model small at {server.url}" in caught.value.message
    assert "secret" not in caught.value.message
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "waits", "may_pass"),
    [
        ({}, 0.0, True),
        ({"retry-after": "7"}, 7.0, True),
        ({"retry-after": "0.5"}, 0.5, True),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25, True),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0, True),
        ({"retry-after": "soon"}, 0.0, True),
        ({"retry-after": "3600"}, 0.0, False),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, 0.0, False),
    ],
)
def test_the_endpoint_says_how_long_to_wait(headers: dict[str, str], waits: float, may_pass: bool) -> None:
    with scripted_server([Reply(status=429, body="{}", headers=headers)]) as server, pytest.raises(StepError) as caught:
        ask(server)
    assert (caught.value.wait_seconds, caught.value.may_pass) == (waits, may_pass)
    assert ("and at most 60 are waited" in caught.value.message) != may_pass


def test_a_long_message_of_the_endpoint_is_cut() -> None:
    with scripted_server([Reply(status=400, body="x" * 5000)]) as server, pytest.raises(StepError) as caught:
        ask(server)
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    ("reply", "rule"),
    [(Reply("A ta", finish="length"), "model-answer-cut"), (Reply("", finish="content_filter"), "model-answer-cut")],
)
@pytest.mark.parametrize("on_text", [None, [].append])
def test_an_answer_that_is_not_whole_is_none(reply: Reply, rule: str, on_text: Callable[[str], None] | None) -> None:
    with scripted_server([reply]) as server, pytest.raises(StepError) as caught:
        ask(server, on_text=on_text)
    assert caught.value.rule == rule


@pytest.mark.parametrize(
    "body",
    ["<html>welcome</html>", "{}", '{"choices": []}', "[1]", '{"choices": [{}]}', '{"choices": [{"message": null}]}'],
)
def test_what_is_no_completion_is_refused(body: str) -> None:
    with scripted_server([Reply(body=body)]) as server, pytest.raises(StepError) as caught:
        ask(server)
    assert caught.value.rule == "model-malformed"


@pytest.mark.parametrize("data", ["{no", "[1]", '{"choices": 3}', '{"choices": [{"delta": "text"}]}'])
def test_a_stream_of_what_is_no_piece_is_refused(data: str) -> None:
    with scripted_server([Reply(body=f"data: {data}\n\n")]) as server, pytest.raises(StepError) as caught:
        ask(server, on_text=list[str]().append)
    assert caught.value.rule == "model-malformed"


@pytest.mark.parametrize("on_text", [None, [].append])
def test_a_reply_without_end_is_given_up(on_text: Callable[[str], None] | None) -> None:
    with scripted_server(["x" * 4_000 if on_text is None else "few words", "x" * 10_000]) as server:
        assert ask(server, on_text, max_reply_bytes=5_000).text
        with pytest.raises(StepError, match="sent more than 5000 bytes") as caught:
            ask(server, on_text, max_reply_bytes=5_000)
    assert caught.value.rule == "model-malformed"


@pytest.mark.parametrize("on_text", [None, [].append])
def test_a_reply_that_may_unpack_to_any_size_is_refused(on_text: Callable[[str], None] | None) -> None:
    packed = Reply("small", headers={"Content-Encoding": "gzip"})
    with scripted_server([packed]) as server, pytest.raises(StepError, match="compressed") as caught:
        ask(server, on_text)
    assert caught.value.rule == "model-malformed"


def test_a_reply_that_is_nested_too_deep_is_refused() -> None:
    with scripted_server([Reply(body='{"choices":' * 100_000)]) as server, pytest.raises(StepError) as caught:
        ask(server)
    assert caught.value.rule == "model-malformed"


@pytest.mark.parametrize("streams", [False, True])
def test_half_of_a_surrogate_pair_is_told_as_a_sign_that_can_be_printed(streams: bool) -> None:
    pieces: list[str] = []
    with scripted_server(["a\ud800 \U0001f600"]) as server:
        assert ask(server, pieces.append if streams else None).text == "a\ufffd \U0001f600"
    assert "".join(pieces) == ("a\ufffd \U0001f600" if streams else "")


def test_what_an_endpoint_leaves_out_is_not_missed() -> None:
    whole = '{"choices": [{"message": {"content": "A tax."}}], "usage": {"prompt_tokens": null}, "more": 1}'
    pieces = ('{"choices": null}', '{"choices": [{"delta": null}]}', '{"choices": [{"delta": {"content": "A tax."}}]}')
    streamed = "".join(f"data: {piece}\n\n" for piece in (*pieces, "[DONE]"))
    with scripted_server([Reply(body=whole), Reply(body=streamed)]) as server:
        assert ask(server) == ask(server, list[str]().append) == ModelAnswer("A tax.", 3, 2)


def test_an_error_inside_a_stream_is_a_failure() -> None:
    body = 'data: {"error": {"message": "out of memory"}}\n\n'
    with scripted_server([Reply(body=body)]) as server, pytest.raises(StepError, match="out of memory") as caught:
        ask(server, on_text=list[str]().append)
    assert caught.value.rule == "model-failed"


def test_a_stream_that_breaks_off_is_no_answer() -> None:
    pieces: list[str] = []
    with scripted_server([Reply("A tax on sales.", breaks_off=True)]) as server, pytest.raises(StepError) as caught:
        ask(server, on_text=pieces.append)
    assert caught.value.rule == "model-answer-cut"
    assert "".join(pieces) == "A tax"


@pytest.mark.parametrize("on_text", [None, [].append])
def test_a_model_that_does_not_answer_in_time_is_given_up(on_text: Callable[[str], None] | None) -> None:
    over = threading.Event()
    with scripted_server([Reply("late", waits=over)]) as server:
        with pytest.raises(StepError, match=r"for 0\.1 s: raise `seconds` of GROUNDWIRE_MODEL_URL") as caught:
            ask(server, on_text, timeout_seconds=0.1)
        over.set()
    assert (caught.value.rule, caught.value.may_pass) == ("model-timeout", True)
    assert len(server.requests) <= 1


def test_a_model_that_never_comes_to_an_end_is_given_up() -> None:
    """Every piece comes in time, and the whole answer does not."""

    async def trickle(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = b" " * 100 + b'{"choices": [{"message": {"content": "A tax."}}]}'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body))
        try:
            for byte in body:
                writer.write(bytes((byte,)))
                await writer.drain()
                await asyncio.sleep(0.02)
        except ConnectionError:
            pass  # the model was given up
        finally:  # also where the loop ends first, and cancels this
            writer.close()

    async def complete() -> ModelAnswer:
        server = await asyncio.start_server(trickle, "127.0.0.1", 0)
        async with server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            return await OpenAIModel(ModelEndpoint(url, "small", timeout_seconds=0.2), WordCounter()).complete(QUESTION)

    with pytest.raises(StepError) as caught:
        asyncio.run(complete())
    assert caught.value.rule == "model-timeout"


def test_an_endpoint_that_nobody_serves_is_unreachable() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        with pytest.raises(StepError) as caught:
            ask(ScriptedServer(url, []))
    assert caught.value.rule == "model-unreachable"


def test_a_cancelled_call_is_cancelled() -> None:
    over = threading.Event()

    async def cancelled(server: ScriptedServer) -> None:
        model = OpenAIModel(ModelEndpoint(server.url, "small"), WordCounter())
        call = asyncio.create_task(model.complete(QUESTION))
        while not server.requests:
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    with scripted_server([Reply("late", waits=over)]) as server:
        asyncio.run(cancelled(server))
        over.set()


def test_an_endpoint_that_refuses_a_temperature_is_asked_without_one() -> None:
    with scripted_server(["A tax."], refuses="temperature") as server:
        assert ask(server).text == "A tax."
        with pytest.raises(StepError, match="temperature is not supported") as caught:
            ask(server, request=replace(QUESTION, temperature=0.0))
    assert caught.value.rule == "model-request-refused"
