"""Where the indexes are."""

from pathlib import Path

import pytest

from groundwire_index.storage import OptionError
from groundwire_milvus.address import MilvusAddress
from groundwire_milvus.record import address_of
from groundwire_server.config import Settings, SettingsError, load_settings
from groundwire_server.rpc.serving.compose import compose
from support.certificates import Authority
from support.program import run

MILVUS = {
    "milvus_uri": "http://milvus:19530",
    "milvus_database": "code",
    "milvus_token_file": Path("f"),
    "milvus_token": "t",
    "milvus_ca": Path("ca.pem"),
    "milvus_seconds": 3,
    "milvus_source_bytes": 1,
}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"backend": "other"}, "backend: 'other': must be one of embedded, milvus"),
        ({"backend": "milvus"}, "milvus_uri: must be given with the backend milvus"),
        *(
            ({setting: value}, f"{setting}: has no use with the backend embedded; set backend")
            for setting, value in MILVUS.items()
        ),
        *(
            ({"milvus_uri": uri}, f"milvus_uri: {uri!r}: must be http://HOST:PORT or https://HOST:PORT")
            for uri in ("milvus:19530", "tcp://milvus:1", "http://milvus", "http://milvus:1/a", "http://a:b", "./m.db")
        ),
        (
            {"milvus_uri": "http://me:secret@milvus:19530"},
            "milvus_uri: 'http://...@milvus:19530': must hold no user name and no password; they belong in "
            "milvus_token_file",
        ),
    ],
)
def test_a_broken_rule_is_one_line(flags: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **flags)
    assert str(caught.value) == message


def _address(settings: Settings) -> MilvusAddress:
    return address_of(settings.backend_values())


def test_the_address_of_milvus_comes_from_its_settings(tmp_path: Path) -> None:
    token, ca = tmp_path / "token", Authority.create(tmp_path).folder / "authority.crt"
    token.write_text("root:secret\n")
    uri = "https://milvus:19530"
    values = {**MILVUS, "backend": "milvus", "milvus_token_file": token, "milvus_token": None, "milvus_ca": ca}
    settings = load_settings(None, **{**values, "milvus_uri": uri})
    assert _address(settings) == MilvusAddress(uri, "code", "root:secret", str(ca), 3)
    with pytest.raises(OptionError, match=r"milvus_ca: .* has no use with http://: milvus_uri must begin with https"):
        _address(load_settings(None, **values))
    with pytest.raises(OptionError, match=r"milvus_ca: .* must hold certificates in PEM"):
        _address(load_settings(None, **{**values, "milvus_uri": uri, "milvus_ca": token}))
    assert "secret" not in repr(_address(settings))
    with pytest.raises(OptionError, match=r"^milvus_token: must not be given together with milvus_token_file$"):
        _address(load_settings(None, **{**values, "milvus_token": "t"}))
    token.write_text("two words")
    with pytest.raises(OptionError, match=r"milvus_token_file: .* must hold one word of printable ASCII"):
        _address(settings)
    token.unlink()
    with pytest.raises(OptionError, match=r"milvus_token_file: .* cannot be read: No such file"):
        _address(settings)


def test_no_negative_number_of_bytes_is_copied() -> None:
    values = {"backend": "milvus", "milvus_uri": "http://milvus:19530", "milvus_source_bytes": -1}
    with pytest.raises(SettingsError, match=r"^milvus_source_bytes: -1: must not be negative$"):
        load_settings(None, **values)


def test_a_server_of_milvus_needs_no_data_folder_and_asks_milvus_nothing_yet(tmp_path: Path) -> None:
    milvus = {"backend": "milvus", "milvus_uri": "http://127.0.0.1:1", "milvus_seconds": 0.2}
    settings = Settings.model_validate({**milvus, "data": tmp_path / "absent", "embedders": ()})
    _, indexes = compose(settings)
    with pytest.raises(OSError, match="Milvus"):
        indexes.check_readable()


def test_its_options_have_no_use_at_a_server() -> None:
    ended = run("indexes", "--server", "localhost:1", "--backend", "milvus", "--milvus-uri", "http://milvus:1")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--milvus-uri" in ended.stderr
