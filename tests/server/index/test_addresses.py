"""Addresses are shown without what may be secret, also where a library quotes them."""

import pytest

from groundwire_index.addresses import without_credentials, without_secrets


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://host:8443/team/shop@v1", "https://host:8443/team/shop@v1"),
        ("https://[2001:db8::1]/shop", "https://[2001:db8::1]/shop"),
        ("https://ann:secret@host/shop?sig=secret#secret", "https://host/shop"),
        ("https://secret@host/shop", "https://host/shop"),
        ("https://ann:sec/secret@host/shop", "https://host/shop"),
        ("https://ann:secret#secret@host/shop", "https://host/shop"),
        ("https://ann:secret@[host/shop", "https://[host/shop"),
        ("file:///srv/a@b", "file:///srv/a@b"),
        ("folder/a@b", "folder/a@b"),
    ],
)
def test_what_is_shown_of_an_address(address: str, shown: str) -> None:
    assert without_credentials(address) == shown
    assert "secret" not in without_secrets(f"403, url={address!r}", address)


def test_a_secret_is_left_out_as_it_is_meant_too() -> None:
    message = without_secrets("bucket 'key:a@b', signature x=1&y=2", "s3://key:a%40b@bucket/team?x%3D1&y=2")
    assert message == "bucket '...', signature ..."


def test_the_user_of_an_ssh_address_is_no_secret() -> None:
    assert without_secrets("ann@host: refused", "ssh://ann@host/shop") == "ann@host: refused"


def test_the_usual_user_of_git_is_no_secret() -> None:
    assert without_secrets("github.com: refused", "https://git@github.com/shop") == "github.com: refused"
