"""Models, and the service that reranks."""

import pytest

from groundwire_server.config import SettingsError, load_settings

RERANKER = {"reranker_token_file": "f", "reranker_token": "t"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ({"widen_factor": 101}, "widen_factor: 101: must be less than or equal to 100"),
        ({"reranker_token": "two words"}, "reranker_token: must be one word of printable ASCII"),
        ({"reranker_token": "a\r\nX: b"}, "reranker_token: must be one word of printable ASCII"),
        ({"reranker_token": 3_141_592}, "reranker_token: must be a text"),
        (
            {"reranker": "https://a/", "reranker_token": "t", "reranker_token_file": "f"},
            "reranker_token: must not be given together with reranker_token_file",
        ),
        ({"phrasing": "some-model"}, "phrasing: 'some-model': must be the https URL of a service"),
        ({"phrasing_token": "t"}, "phrasing_token: has no use unless phrasing is a URL"),
        (
            {"phrasing": "https://a/", "phrasing_token": "t", "phrasing_token_file": "f"},
            "phrasing_token: must not be given together with phrasing_token_file",
        ),
        *(
            ({"reranker": reranker, setting: value}, f"{setting}: has no use unless reranker is a URL")
            for reranker in ("", "some-model")
            for setting, value in RERANKER.items()
        ),
    ],
)
def test_a_broken_rule_is_one_line(flags: dict[str, object], message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **flags)
    assert str(caught.value) == message


def test_a_token_may_come_from_the_environment_and_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDWIRE_RERANKER", "https://rerank.example/v1/rerank")
    monkeypatch.setenv("GROUNDWIRE_RERANKER_TOKEN", "tok-3n")
    settings = load_settings(None)
    assert settings.reranker_token.get_secret_value() == "tok-3n"
    assert "tok-3n" not in f"{settings!r} {settings} {settings.model_dump_json()}"
