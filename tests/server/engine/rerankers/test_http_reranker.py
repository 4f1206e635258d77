"""The HTTP reranker against a real service on loopback: what is asked, what is believed, and how it fails."""

import gzip
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import structlog
from pydantic import ValidationError

from groundwire_configuration.http_service import HttpService, Token, token_in
from groundwire_configuration.service_error import ServiceError
from groundwire_server.domain.errors import DeadlineError, Reason, RerankerUnavailableError
from groundwire_server.engine.rerankers.http_reranker import HttpReranker, RerankApi, scores_of
from groundwire_server.engine.rerankers.rerank import RerankCandidate
from groundwire_server.execution.call import Checkpoint
from groundwire_server.rpc.telemetry.logs import configure_logging
from support.calls import never_stop
from support.certificates import Authority
from support.rerank_service import Asked, Reply, as_json, by_length, rerank_service

TEXTS = ["ab", "abcdef", "", "abcd"]
SECRET = "tok-3n"


@contextmanager
def reranker(
    url: str, api: RerankApi = "rerank", model: str = "small", token: Token = lambda: SECRET, seconds: float = 20
) -> Iterator[HttpReranker]:
    service = HttpService(url, token, seconds)
    try:
        yield HttpReranker(service, api, model, widen_factor=1)
    finally:
        service.close()


def scores(asking: HttpReranker, texts: list[str], checkpoint: Checkpoint = never_stop) -> list[float]:
    return asking.scores("where", [RerankCandidate(text, 0.5) for text in texts], checkpoint)


def failure(url: str, seconds: float = 20) -> str:
    with reranker(url, seconds=seconds) as asking, pytest.raises(RerankerUnavailableError) as caught:
        scores(asking, TEXTS)
    assert caught.value.reason is Reason.RERANKER_UNAVAILABLE
    assert caught.value.message.endswith("; try again later, or ask without `rerank`")
    return caught.value.rule


def test_scores_stand_in_the_order_of_the_candidates() -> None:
    with rerank_service() as service, reranker(service.url) as asking:
        assert scores(asking, TEXTS) == [0.002, 0.006, 0.0, 0.004]
    (request,) = service.requests
    assert request.path == "/v1/rerank"
    assert request.headers["Authorization"] == f"Bearer {SECRET}"
    assert request.headers["Content-Type"] == "application/json"
    assert request.body == {"model": "small", "query": "where", "documents": TEXTS, "top_n": 4}


def test_a_service_of_one_model_and_no_token_is_sent_neither() -> None:
    with rerank_service() as service, reranker(service.url, model="", token=lambda: "") as asking:
        scores(asking, TEXTS)
    assert "model" not in service.requests[0].body
    assert "Authorization" not in service.requests[0].headers


def test_text_embeddings_inference_has_a_shape_of_its_own() -> None:
    with rerank_service() as service, reranker(service.url, "tei", model="") as asking:
        assert scores(asking, TEXTS) == [0.002, 0.006, 0.0, 0.004]
    assert service.requests[0].body == {"query": "where", "texts": TEXTS, "truncate": True}


@pytest.mark.parametrize(("api", "sizes"), [("rerank", [100, 100, 1]), ("tei", [32] * 6 + [9])])
def test_many_candidates_are_several_requests_over_one_connection(api: RerankApi, sizes: list[int]) -> None:
    texts = ["x" * length for length in range(201)]
    with rerank_service() as service, reranker(service.url, api) as asking:
        assert scores(asking, texts) == [length / 1_000 for length in range(201)]
    assert [len(request.body.get("documents") or request.body["texts"]) for request in service.requests] == sizes
    assert len({request.port for request in service.requests}) == 1


def test_a_text_is_sent_as_far_as_rerankers_read() -> None:
    with (
        rerank_service(lambda request: as_json(by_length_in_ones(request))) as service,
        reranker(service.url) as asking,
    ):
        scores(asking, ["x" * 1_000_000, "ab"])
    assert service.requests[0].body["documents"] == ["x" * 16_384, "ab"]


def test_no_candidates_ask_nothing() -> None:
    with rerank_service() as service, reranker(service.url) as asking:
        assert scores(asking, []) == []
    assert not service.requests


def results(*relevances: tuple[object, object]) -> Reply:
    return as_json({"results": [{"index": index, "relevance_score": score} for index, score in relevances]})


GOOD = [(0, 0.1), (1, 0.2), (2, 0.3)]
BAD_REPLIES: list[tuple[str, Reply, str]] = [
    ("one too few", results(*GOOD), "gave 3 scores for 4 texts"),
    ("one too many", results(*GOOD, (3, 0.4), (4, 0.5)), "gave 5 scores for 4 texts"),
    ("one twice", results(*GOOD, (0, 0.4)), "gave 4 scores for 4 texts; it must score each once"),
    ("one beyond the end", results(*GOOD, (4, 0.4)), "gave 4 scores for 4 texts; it must score each once"),
    ("a huge index", results(*GOOD, (10**4_000, 0.4)), "gave 4 scores for 4 texts; it must score each once"),
    ("an index below zero", results(*GOOD, (-1, 0.4)), "gave an unusable reply: results.3.index: "),
    ("an index that is a text", results(*GOOD, ("3", 0.4)), "gave an unusable reply: results.3.index: "),
    ("an index that is a truth", results((True, 0.4)), "gave an unusable reply: results.0.index: "),
    ("no number", results((0, float("nan"))), "gave an unusable reply: results.0.relevance_score: "),
    ("infinite", results((0, float("inf"))), "gave an unusable reply: results.0.relevance_score: "),
    ("above one", results((0, 1.1)), "gave an unusable reply: results.0.relevance_score: "),
    ("below zero", results((0, -0.1)), "gave an unusable reply: results.0.relevance_score: "),
    ("a text for a score", results((0, "0.1")), "gave an unusable reply: results.0.relevance_score: "),
    ("no score", as_json({"results": [{"index": 0}]}), "gave an unusable reply: results.0.relevance_score: "),
    ("no results", as_json({"data": []}), "gave an unusable reply: results: Field required"),
    ("another shape", as_json([]), "gave an unusable reply: body: "),
    ("no JSON", Reply(b"<html>"), "gave an unusable reply: body: Invalid JSON"),
    ("nothing", Reply(b""), "gave an unusable reply: body: Invalid JSON"),
    ("no UTF-8", Reply(b'{"results": "\xff"}'), "gave an unusable reply: "),
    ("deep nesting", Reply(b"[" * 60_000), "gave an unusable reply: body: Invalid JSON: recursion limit"),
    ("a long number", Reply(b"[1" + b"0" * 60_000 + b"]"), "gave an unusable reply: "),
    ("too long", Reply(b" " * 200_000), "gave a reply of more than 65"),
    (
        "compressed beyond measure",
        Reply(gzip.compress(b" " * 10_000_000), headers={"Content-Encoding": "gzip"}),
        "gave an unusable reply: body: Invalid JSON",
    ),
    ("refused", Reply(b"{}", 401), "answered with HTTP status 401"),
    ("defect", Reply(b"{}", 500), "answered with HTTP status 500"),
    ("elsewhere", Reply(b"", 307, {"Location": "/other"}), "answered with HTTP status 307"),
    ("cut", Reply(b'{"results": [', cut=True), "cannot be reached: RemoteProtocolError"),
    ("a header of no end", Reply(b"{}", headers={"X": "y" * 200_000}), "cannot be reached: RemoteProtocolError"),
]


@pytest.mark.parametrize(("reply", "rule"), [pytest.param(*case[1:], id=case[0]) for case in BAD_REPLIES])
def test_a_reply_that_breaks_a_rule_is_believed_in_no_part(reply: Reply, rule: str) -> None:
    with rerank_service(lambda _: reply) as service:
        assert failure(service.url).startswith(rule)
    assert len(service.requests) == 1


def test_a_reply_with_an_error_in_each_of_a_million_places_costs_as_much_as_its_length() -> None:
    with pytest.raises(RerankerUnavailableError, match=r"results\.0: Input should be an object") as caught:
        scores_of("rerank", b'{"results":[' + b"0," * 1_000_000 + b"0]}", 1)
    validation_error = caught.value.__context__
    assert isinstance(validation_error, ValidationError)
    assert validation_error.error_count() == 1, "the others are not looked for"


def test_texts_that_are_sent_back_do_not_make_a_reply_too_long() -> None:
    texts = ["日本\x00" * 5_000, "é" * 16_000]
    with (
        rerank_service(lambda request: as_json(by_length_in_ones(request))) as service,
        reranker(service.url) as asking,
    ):
        assert scores(asking, texts) == [1.0, 1.0]


def by_length_in_ones(request: Asked) -> object:
    documents = request.body["documents"]
    return {"results": [{"index": i, "relevance_score": 1, "document": text} for i, text in enumerate(documents)]}


def test_a_service_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert failure(f"http://localhost:{taken.getsockname()[1]}/") == "cannot be reached: ConnectError"


def test_a_service_that_never_ends_is_given_up() -> None:
    with rerank_service(lambda _: Reply(b" " * 10_000, drips=True)) as service:
        assert failure(service.url, seconds=0.3) == "took longer than 0.3 s"
        assert service.left.wait(10), "the reply was not read to its end"


def test_a_service_that_never_accepts_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        assert failure(f"http://localhost:{silent.getsockname()[1]}/", seconds=0.2) == "took longer than 0.2 s"


def test_when_nobody_waits_any_more_the_request_is_dropped_and_the_next_is_answered() -> None:
    def slow_at_first(request: Asked) -> Reply:
        return Reply(b" " * 10_000, drips=True) if request.body["query"] == "slow" else by_length(request)

    checks: list[None] = []

    def late() -> None:
        checks.append(None)
        if len(checks) > 3:
            raise DeadlineError

    with rerank_service(slow_at_first) as service, reranker(service.url) as asking:
        with pytest.raises(DeadlineError):
            asking.scores("slow", [RerankCandidate("a", 0.0)], late)
        assert service.left.wait(20)
        assert scores(asking, TEXTS) == [0.002, 0.006, 0.0, 0.004]


def test_cookies_are_not_kept() -> None:
    def baking(request: Asked) -> Reply:
        reply = by_length(request)
        return Reply(reply.body, headers={"Set-Cookie": "session=1; Path=/"})

    with rerank_service(baking) as service, reranker(service.url) as asking:
        scores(asking, TEXTS)
        scores(asking, TEXTS)
    assert all("Cookie" not in request.headers for request in service.requests)


def test_a_proxy_is_not_sent_what_goes_to_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with rerank_service() as service, reranker(service.url) as asking:
        assert scores(asking, ["ab"]) == [0.002]


def test_a_certificate_must_be_of_a_trusted_authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = Authority.create(tmp_path / "right")
    other = Authority.create(tmp_path / "wrong")
    certificate = authority.issue("localhost", dns=["localhost"])
    with rerank_service(certificate=certificate) as service:
        monkeypatch.setenv("SSL_CERT_FILE", str(authority.folder / "authority.crt"))
        with reranker(service.url) as asking:
            assert scores(asking, ["ab"]) == [0.002]
        monkeypatch.setenv("SSL_CERT_FILE", str(other.folder / "authority.crt"))
        assert failure(service.url) == "cannot be reached: ConnectError"
    assert len(service.requests) == 1


def test_a_url_that_nothing_can_be_sent_to() -> None:
    with pytest.raises(ValueError, match="nvalid"):
        HttpService("https://a\x00b/", lambda: "", 1)


def test_a_changed_token_counts_at_once(tmp_path: Path) -> None:
    file = tmp_path / "token"
    with rerank_service() as service, reranker(service.url, token=token_in(file)) as asking:
        for token in ("first\n", "second"):
            file.write_text(token)
            scores(asking, TEXTS)
    assert [request.headers["Authorization"] for request in service.requests] == ["Bearer first", "Bearer second"]


@pytest.mark.parametrize("content", [b"", b"two words", b"a\r\nX-Other: b", b"\xff", b"a" * 16_385])
def test_a_file_that_holds_no_token(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "token"
    file.write_bytes(content)
    with pytest.raises(ServiceError) as caught:
        token_in(file)()
    assert str(caught.value) == "needs a token that is one word of printable ASCII"


def test_a_file_of_a_token_that_is_gone_asks_nothing(tmp_path: Path) -> None:
    with (
        rerank_service() as service,
        reranker(service.url, token=token_in(tmp_path / "absent")) as asking,
        pytest.raises(RerankerUnavailableError, match="needs a token that cannot be read: No such file"),
    ):
        scores(asking, TEXTS)
    assert not service.requests


@pytest.fixture
def _own_logging() -> Iterator[None]:
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    yield
    root.setLevel(level)
    root.handlers[:] = handlers
    structlog.reset_defaults()  # else later tests write to this one's stream, which is closed by then


@pytest.mark.usefixtures("_own_logging")
def test_the_log_holds_nothing_that_is_sent_or_received(capfd: pytest.CaptureFixture[str]) -> None:
    configure_logging("json", "debug")
    answers: list[Callable[[Asked], Reply]] = [by_length, lambda _: Reply(b'"reply-7"'), lambda _: Reply(b"", 401)]
    with rerank_service(lambda request: answers.pop(0)(request)) as service, reranker(service.url) as asking:
        scores(asking, ["text-5"])
        for _ in range(2):
            with pytest.raises(RerankerUnavailableError):
                asking.scores("query-6", [RerankCandidate("text-5", 0.0)], never_stop)
    logged = capfd.readouterr().err
    assert "answered with HTTP status 401" in logged
    assert not [word for word in (SECRET, "text-5", "query-6", "reply-7") if word in logged]
