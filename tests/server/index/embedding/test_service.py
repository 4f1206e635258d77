"""The embedder that asks a service, against one on loopback: what is sent, what is believed, and how it fails."""

import re
from collections.abc import Callable, Iterator, Sequence
from threading import Semaphore, current_thread

import numpy as np
import pytest

from groundwire_configuration.http_service import Token
from groundwire_configuration.service_error import ServiceError
from groundwire_index.embedding import service as module
from groundwire_index.embedding.embedder import EmbedderError, EmbedderUnavailableError
from groundwire_index.embedding.service import ServiceEmbedder
from support.calls import never_stop
from support.embedding_service import embeds, vector_of
from support.rerank_service import Asked, Reply, as_json, rerank_service

MODEL = "#model=own"


_made: list[ServiceEmbedder] = []


def embedder(url: str, options: str = MODEL, token: Token = str, path: str = "/v1/embeddings") -> ServiceEmbedder:
    made = ServiceEmbedder(f"{url}{path}{options}", token, seconds=20)
    _made.append(made)
    return made


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _made:
        _made.pop().close()


@pytest.fixture
def naps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a build has waited, which is all the time that passes."""
    slept: list[float] = []
    monkeypatch.setattr(module, "sleep", slept.append)
    monkeypatch.setattr(module, "monotonic", lambda: sum(slept))
    return slept


def answering(*answers: Callable[[Asked], Reply]) -> Callable[[Asked], Reply]:
    """One answer after another; the last one goes on."""
    left = list(answers)
    return lambda request: (left.pop(0) if len(left) > 1 else left[0])(request)


def test_vectors_stand_in_the_order_of_the_texts() -> None:
    texts = [f"text {number} of some" for number in range(150)]
    with rerank_service(embeds) as service:
        vectors = embedder(service.url, token=lambda: "tok-3n").embed_texts(texts)
    assert vectors == pytest.approx(np.asarray([vector_of(text) for text in texts]), abs=1e-6)
    assert sorted(len(sent.body["input"]) for sent in service.requests) == [22, 64, 64]
    for request in service.requests:
        assert (request.path.rpartition("/")[2], request.body["model"], request.body["encoding_format"]) == (
            "embeddings",
            "own",
            "float",
        )
        assert request.headers["Authorization"] == "Bearer tok-3n"


def test_a_request_has_no_more_tokens_than_services_take() -> None:
    texts = [f"text {number}" for number in range(40)]
    with rerank_service(embeds) as service:
        batches = embedder(service.url).embed_counted(lambda first, last: texts[first:last], [1_000] * 39 + [50_000])
        vectors = np.concatenate([vectors for _, _, vectors in batches])
    assert sorted(len(request.body["input"]) for request in service.requests) == [1, 7, 16, 16]
    assert vectors == pytest.approx(np.asarray([vector_of(text) for text in texts]), abs=1e-6)


def test_the_protocol_of_text_embeddings_inference() -> None:
    with rerank_service(embeds) as service:
        asking = embedder(service.url, "#dimensions=16", path="/embed")
        assert asking.embed_texts(["one text"])[0] == pytest.approx(vector_of("one text", dimension=16), abs=1e-6)
        assert asking.dimension == 16
    assert service.requests[0].body == {"inputs": ["one text"], "truncate": True, "dimensions": 16}
    assert "Authorization" not in service.requests[0].headers


@pytest.mark.parametrize(
    ("options", "query", "text"),
    [
        ("#model=nomic-embed-text:v1.5", "search_query: q", "search_document: t"),
        ("#model=intfloat/multilingual-e5-large", "query: q", "passage: t"),
        ("#model=BAAI/bge-m3", "q", "t"),
        ("#model=own", "q", "t"),
        ("#model=nomic-embed-text&query_prompt=ask%3A%20&text_prompt=", "ask: q", "t"),
    ],
)
def test_prompts_are_those_of_the_model_or_those_that_are_given(options: str, query: str, text: str) -> None:
    with rerank_service(embeds) as service:
        asking = embedder(service.url, options)
        asking.embed_query("q")
        asking.embed_texts(["t"])
    assert [request.body["input"] for request in service.requests] == [[query], [text]]


def test_what_is_asked_is_in_the_fingerprint_and_where_is_not() -> None:
    options = ("#model=a", "#model=b", "#model=a&dimensions=8", "#model=a&query_prompt=q", "#model=a&text_prompt=q")
    prints = [embedder("http://localhost:1", fragment).fingerprint for fragment in options]
    assert len({*prints}) == len(options)
    assert embedder("https://elsewhere.example", "#model=a").fingerprint == prints[0]


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://a/v1/embeddings", "OpenAI's protocol needs a model: append #model=NAME"),
        ("https://a/v1#model=m", "the path must end in /embeddings (OpenAI's protocol) or /embed"),
        ("https://a/embed#size=3", "size is none of dimensions, model, price, query_prompt, seconds, text_prompt"),
        ("https://a/embed#model=m#price=1", "options have & between them, and a # before the first one only"),
        ("https://a/embed#price=-1", "price=-1 must be the price of a million tokens, such as 0.02"),
        ("https://a/embed#price=1e3", "price=1e3 must be"),
        ("https://a/embed#dimensions=0", "dimensions=0 must be a number of 1 to 65536"),
        ("https://a/embed#dimensions=x", "dimensions=x must be a number of 1 to 65536"),
        ("https://a\x00b/embed", "Invalid"),
    ],
)
def test_urls_that_cannot_be_used(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        ServiceEmbedder(url, lambda: "")


def test_a_build_waits_for_a_service_that_limits_its_rate_or_is_away(naps: list[float]) -> None:
    limited, away = Reply(b"", 429, {"Retry-After": "7"}), Reply(b"", 503)
    with rerank_service(answering(lambda _: limited, lambda _: away, lambda _: away, embeds)) as service:
        assert embedder(service.url).embed_texts(["text"]).shape == (1, 64)
    assert naps == [7.0, 2.0, 4.0]


def test_requests_that_are_refused_together_wait_together(monkeypatch: pytest.MonkeyPatch) -> None:
    naps: list[float] = []
    refused = Semaphore(0)

    def now() -> float:
        passed = sum(naps)
        if current_thread().name.startswith("embed"):
            refused.release()
        return passed

    def nap(seconds: float) -> None:
        for _ in range(0 if naps else 4):
            assert refused.acquire(timeout=300)
        naps.append(seconds)

    monkeypatch.setattr(module, "monotonic", now)
    monkeypatch.setattr(module, "sleep", nap)
    texts = [f"text {number}" for number in range(64 * 4)]

    def limited(_: Asked) -> Reply:
        return Reply(b"", 429, {"Retry-After": "60"})

    with rerank_service(answering(limited, limited, limited, limited, embeds)) as service:
        assert embedder(service.url).embed_texts(texts).shape == (256, 64)
    assert (naps, len(service.requests)) == ([60.0, 1.0, 1.0, 1.0], 8)


def test_a_build_gives_up_after_ten_minutes_and_says_what_is_kept(naps: list[float]) -> None:
    with (
        rerank_service(lambda _: Reply(b"", 500)) as service,
        pytest.raises(
            EmbedderError, match=r"at localhost answered with HTTP status 500; the next run goes on from there"
        ),
    ):
        embedder(service.url).embed_texts(["text"])
    assert 500 < sum(naps) <= 600


@pytest.mark.parametrize(
    ("status", "to_do"), [(400, "check its options"), (401, "check the token"), (404, "check URL and model")]
)
def test_a_refusal_says_what_to_check(status: int, to_do: str) -> None:
    with (
        rerank_service(lambda _: Reply(b"", status)) as service,
        pytest.raises(EmbedderError, match=f"answered with HTTP status {status}: {to_do}; the next run"),
    ):
        embedder(service.url).embed_texts(["text"])


def test_a_build_does_not_wait_for_a_service_that_has_never_answered(naps: list[float]) -> None:
    with pytest.raises(EmbedderError, match="at localhost cannot be reached: ConnectError"):
        embedder("http://localhost:1").embed_texts(["text"])
    assert naps == []


def test_the_vectors_of_requests_under_way_are_kept_when_one_fails() -> None:
    texts = [f"text {number}" for number in range(64 * 9)]
    kept: list[str] = []

    def refusing(request: Asked) -> Reply:
        return Reply(b"", 401) if texts[64] in request.body["input"] else embeds(request)

    def keep(batches: Iterator[tuple[int, Sequence[str], object]]) -> None:
        for _, some, _ in batches:
            kept.extend(some)

    with rerank_service(refusing) as service, pytest.raises(EmbedderError, match="HTTP status 401"):
        keep(embedder(service.url).embed_counted(lambda first, last: texts[first:last], [1] * len(texts)))
    assert kept == texts[:64] + texts[128:320]
    assert len(service.requests) == 5


def test_nothing_more_is_sent_when_a_request_has_failed(naps: list[float]) -> None:
    """Not even the parts of a request under way that is too long."""

    def refusing(request: Asked) -> Reply:
        return Reply(b"", 401 if "text 0" in request.body["input"] else 413)

    with rerank_service(refusing) as service, pytest.raises(EmbedderError, match="HTTP status 401"):
        embedder(service.url).embed_texts([f"text {number}" for number in range(64 * 3)])
    assert (len(service.requests), naps) == (3, [])


def test_a_build_does_not_repeat_what_cannot_help(naps: list[float]) -> None:
    with rerank_service(lambda _: Reply(b"", 401)) as service, pytest.raises(EmbedderError, match="HTTP status 401"):
        embedder(service.url).embed_texts(["text"])
    assert (len(service.requests), naps) == (1, [])


def test_a_text_that_is_too_long_for_the_model_is_halved_on_its_own() -> None:
    def short_ones(request: Asked) -> Reply:
        return embeds(request) if all(len(text) <= 1_000 for text in request.body["input"]) else Reply(b"", 400)

    with rerank_service(short_ones) as service:
        vectors = embedder(service.url).embed_texts(["short", "long " * 700])
    assert vectors == pytest.approx(np.asarray([vector_of("short"), vector_of("long")]), abs=1e-6)
    assert [len(request.body["input"][-1]) for request in service.requests] == [3_500, 5, 3_500, 1_750, 875]


def test_very_long_texts_are_cut() -> None:
    with rerank_service(embeds) as service:
        embedder(service.url).embed_texts(["a" * 20_000])
    assert len(service.requests[0].body["input"][0]) == module.MOST_CHARACTERS


@pytest.mark.parametrize(
    "reply",
    [
        b"", b"[]", b"{}", b'{"data": 3}', b'{"data": [{"index": 0}]}', b'{"data": [{"index": 0, "embedding": []}]}',
        b'{"data": [{"index": 0, "embedding": [0, 0]}]}', b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [1, "x"]}]}', b'{"data": [{"index": "x", "embedding": [1]}]}',
        b'{"data": [{"index": 1e999, "embedding": [1]}]}',
        b'{"data": [{"index": 0, "embedding": [1%s]}]}' % (b"0" * 400),
        b"[" * 100_000, b'{"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1]}]}',
    ],
)  # fmt: skip
def test_replies_without_a_vector_for_each_text(reply: bytes) -> None:
    with (
        rerank_service(lambda _: Reply(reply)) as service,
        pytest.raises(EmbedderError, match=r"at localhost gave (a reply without a usable vector|vectors of the shape)"),
    ):
        embedder(service.url).embed_texts(["text"])


def test_a_build_ends_when_the_service_changes_the_length_of_its_vectors() -> None:
    with rerank_service(embeds) as service:
        asking = embedder(service.url)
        assert asking.dimension == 64
        service.answer = lambda _: as_json({"data": [{"index": 0, "embedding": [1.0] * 32}]})
        with pytest.raises(EmbedderError, match=r"vectors of the shape \(1, 32\) for 1 texts where 64 numbers are due"):
            asking.embed_texts(["text"])


def test_dimensions_that_the_service_does_not_heed() -> None:
    with (
        rerank_service(lambda _: as_json({"data": [{"index": 0, "embedding": vector_of("x")}]})) as service,
        pytest.raises(EmbedderError, match=r"vectors of the shape \(1, 64\) for 1 texts where 16 numbers are due"),
    ):
        embedder(service.url, "#model=own&dimensions=16").embed_texts(["text"])


def test_queries_are_embedded_by_the_model_of_the_index_alone() -> None:
    with rerank_service(embeds) as service:
        asking = embedder(service.url)
        probes = asking.probes()
        embed = asking.query_embedder(probes)
        for _ in range(2):
            assert embed("a query", never_stop) == pytest.approx(vector_of("a query"), abs=1e-6)
        assert [len(request.body["input"]) for request in service.requests] == [1, 1, 2, 1, 1]  # probes, then one check
        service.answer = lambda request: embeds(request, salt="another")
        with pytest.raises(EmbedderUnavailableError, match="is not the one that the index was made with"):
            embedder(service.url).query_embedder(probes)("a query", never_stop)


def test_a_service_that_fails_three_times_is_left_alone_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with rerank_service(embeds) as service:
        asking = embedder(service.url)
        embed = asking.query_embedder(asking.probes())
        service.answer = lambda _: Reply(b"", 503)
        rules = [_refused(embed) for _ in range(4)]
        request_count = len(service.requests)
        now[0] += 5.0
        service.answer = embeds
        assert embed("back", never_stop) == pytest.approx(vector_of("back"), abs=1e-6)
    assert rules == ["answered with HTTP status 503"] * 3 + ["failed several times and is left alone for some seconds"]
    assert request_count == 5


@pytest.mark.parametrize("reply", [Reply(b"", 400), Reply(b"", 413), Reply(b"no vector")])
def test_texts_that_the_service_refuses_do_not_shut_out_others(reply: Reply) -> None:
    with rerank_service(embeds) as service:
        asking = embedder(service.url)
        embed = asking.query_embedder(asking.probes())
        service.answer = lambda _: reply
        for _ in range(4):
            assert "left alone" not in _refused(embed)
        service.answer = embeds
        assert embed("of another caller", never_stop).shape == (64,)


class _LeftError(Exception):
    """The caller no longer waits."""


@pytest.mark.parametrize(
    ("waits", "together", "left_alone"), [(2.0, 1, True), (1.9, 1, False), (0.0, 1, False), (2.0, 4, False)]
)
def test_a_service_that_hangs_is_left_alone_also_where_callers_leave_first(
    monkeypatch: pytest.MonkeyPatch, waits: float, together: int, left_alone: bool
) -> None:
    """Not for callers who leave at once, nor for many who leave together."""
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])

    def leave(calls: int = together) -> None:
        if calls > 1:
            embed("one more", lambda: leave(calls - 1))
        now[0] += waits
        raise _LeftError

    with rerank_service(embeds) as service:
        asking = embedder(service.url)
        embed = asking.query_embedder(asking.probes())
        service.answer = lambda _: Reply(b"-" * 1_000, drips=True)
        for _ in range(1 if together > 1 else 3):
            with pytest.raises(_LeftError):
                embed("a query", leave)
        service.answer = embeds
        if left_alone:
            assert "is left alone" in _refused(embed)
        else:
            assert embed("of another caller", never_stop).shape == (64,)


def _refused(embed: Callable[[str, Callable[[], None]], object]) -> str:
    with pytest.raises(ServiceError) as caught:
        embed("a query", never_stop)
    return str(caught.value)


def test_a_token_that_cannot_be_read_ends_a_build() -> None:
    def token() -> str:
        raise ServiceError("needs a token that cannot be read: No such file")

    with rerank_service(embeds) as service, pytest.raises(EmbedderError, match="needs a token that cannot be read"):
        embedder(service.url, "", token, "/embed").embed_texts(["text"])
    assert not service.requests


@pytest.mark.parametrize("token", ["tok-ü", "tok\udcff", "tok\n", "to ken"])
def test_a_token_that_no_header_can_hold_ends_a_build_and_is_not_told(token: str) -> None:
    with rerank_service(embeds) as service, pytest.raises(EmbedderError) as caught:
        embedder(service.url, token=lambda: token).embed_texts(["text"])
    assert "needs a token that is one word of printable ASCII" in str(caught.value)
    assert "tok" not in str(caught.value).replace("token", "")
    assert not service.requests
