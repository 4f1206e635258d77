"""Where settings come from, which win, and how files that cannot be used are told."""

from pathlib import Path

import pytest

from groundwire_server.config import Settings, SettingsError, load_settings


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
    assert settings.max_connections == 512


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
        ("7: 1", "config: {path}: is not YAML: the file: the key '7' is no text; quote it (line 1)"),
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
