"""Key sets from files and from HTTP, within bounds of size and time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from groundwire_server.rpc.identity.json_web_keys import KeySetError
from groundwire_server.rpc.identity.key_sources import KeyFile, KeyUrl
from support.http_site import HttpSite, http_site


@pytest.fixture
def site() -> Iterator[HttpSite]:
    with http_site() as site:
        yield site


def test_a_url_is_read_each_time(site: HttpSite) -> None:
    source = KeyUrl(site.url)
    assert source.read() == b"{}"
    site.body = b"[]"
    assert source.read() == b"[]"


def test_no_proxy_stands_between_a_server_and_its_own_host(site: HttpSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert KeyUrl(site.url).read() == b"{}"


@pytest.mark.parametrize(
    ("status", "headers", "problem"),
    [
        (404, {}, "answers with HTTP status 404"),
        (500, {}, "answers with HTTP status 500"),
        (302, {"Location": "/elsewhere"}, "answers with HTTP status 302"),
    ],
)
def test_an_answer_that_is_none_is_told(site: HttpSite, status: int, headers: dict[str, str], problem: str) -> None:
    site.status, site.headers = status, headers
    with pytest.raises(KeySetError, match=problem):
        KeyUrl(site.url).read()


def test_a_host_that_is_not_there_is_told(site: HttpSite) -> None:
    with pytest.raises(KeySetError, match=r"cannot be read: .*refused"):
        KeyUrl("http://127.0.0.1:1/keys").read()


def test_an_answer_that_never_ends_is_given_up(site: HttpSite) -> None:
    site.drips = True
    with pytest.raises(KeySetError, match=r"takes longer than 0\.2 s to answer"):
        KeyUrl(site.url, read_seconds=0.2).read()


@pytest.mark.parametrize(
    "sent",
    [b"HTTP/1.1 200 OK\r\nX: ".ljust(20), b"HTTP/1.1 100 Continue\r\n\r\n", b""],
    ids=["headers", "continue", "nothing"],
)
def test_an_answer_that_never_begins_is_given_up(site: HttpSite, sent: bytes) -> None:
    """Each byte comes in time, and the whole never does."""
    site.drips_before, site.drips = sent, not sent
    with pytest.raises(KeySetError, match=r"takes longer than 0\.5 s to answer"):
        KeyUrl(site.url, read_seconds=0.5).read()


@pytest.mark.parametrize("kind", ["file", "url"])
def test_a_set_that_is_too_long_is_told(site: HttpSite, tmp_path: Path, kind: str) -> None:
    site.body = b" " * 101
    (tmp_path / "keys").write_bytes(site.body)
    file, url = KeyFile(tmp_path / "keys", max_bytes=100), KeyUrl(site.url, max_bytes=100)
    with pytest.raises(KeySetError, match="is longer than 100 bytes"):
        (file if kind == "file" else url).read()


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(KeySetError, match=r"^No such file or directory; give a readable"):
        KeyFile(tmp_path / "keys").read()
