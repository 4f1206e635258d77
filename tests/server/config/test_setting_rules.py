"""Forms of single settings: addresses, lists of names, and what is a path or a URL."""

import pytest

from groundwire_server.config import SettingsError, load_settings
from groundwire_server.config.setting_rules import split_address

SOURCE_RULE = "must be a path, or a URL with https:// and without user name; http:// is for localhost alone"


@pytest.mark.parametrize(
    ("given", "embedders"),
    [("none", ()), ("a", ("a",)), ("a,b", ("a", "b")), (["a", "b"], ("a", "b")), (("x,y",), ("x,y",)), ([], ())],
)
def test_embedders_are_a_list_or_names_between_commas_or_none(given: object, embedders: tuple[str, ...]) -> None:
    assert load_settings(None, embedders=given).embedders == embedders


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        *(
            ({"jwt_keys": url}, f"jwt_keys: {url!r}: {SOURCE_RULE}")
            for url in (
                "http://issuer.example/keys",
                "http://localhost.example/keys",
                "ftp://issuer.example/keys",
                "https:///keys",
            )
        ),
        (
            {"jwt_keys": "https://user:secret@issuer.example/keys"},
            f"jwt_keys: 'https://...@issuer.example/keys': {SOURCE_RULE}",
        ),
        ({"jwt_keys": "https://a:99999/"}, "jwt_keys: 'https://a:99999/': Port out of range 0-65535"),
        ({"reranker": "http://rerank.example/v1"}, f"reranker: 'http://rerank.example/v1': {SOURCE_RULE}"),
        ({"reranker": "https://me:secret@a/"}, f"reranker: 'https://...@a/': {SOURCE_RULE}"),
    ],
)
def test_a_source_is_a_path_or_a_url_that_nobody_else_can_read(flags: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **flags)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("[::]:50051", ("::", 50051)),
        ("groundwire.internal:65535", ("groundwire.internal", 65535)),
    ],
)
def test_an_address_is_a_host_and_a_port(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize("address", ["", "host", "host:", ":1", "host:65536", "::1:80", "[::1]", "a b:1", "unix:/x"])
def test_anything_else_is_no_address(address: str) -> None:
    with pytest.raises(ValueError, match="must be HOST:PORT"):
        split_address(address)
