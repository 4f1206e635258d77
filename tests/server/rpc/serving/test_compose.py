"""Parts that cannot be put together are told as settings that cannot be used."""

from dataclasses import replace
from pathlib import Path

import pytest

from groundwire_index.embedding.int8.record import EncoderRecord
from groundwire_index.embedding.int8.store import EncoderStore
from groundwire_server.config import Settings, SettingsError
from groundwire_server.domain.query.query_parameters import QueryDefaults
from groundwire_server.engine.rerankers.http_reranker import HttpReranker
from groundwire_server.engine.rerankers.rerank import RerankCandidate
from groundwire_server.rpc.serving.compose import compose
from support.calls import never_stop
from support.rerank_service import rerank_service


def test_a_server_without_models_is_put_together_over_an_empty_folder(tmp_path: Path) -> None:
    settings = Settings(
        data=tmp_path, embedders=(), max_top_k=7, widen_factor=3, lifecycle_override_acl_tags=("auditor",)
    )
    engine, indexes = compose(settings)
    assert engine.max_top_k == 7
    assert engine.rerankers.keyword.widen_factor == 3
    assert engine.rerankers.codebert is None
    assert engine.indexes.lifecycle_override_acl_tags == {"auditor"}
    assert id(engine.indexes.backend) == id(indexes), "one object is both"


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SettingsError, match=r"^data: .*file: is no folder; build an index into it"):
        compose(Settings(data=file))


@pytest.mark.parametrize("setting", ["embedders", "reranker"])
def test_a_model_that_cannot_be_loaded_is_told_in_one_line(tmp_path: Path, setting: str) -> None:
    model = str(tmp_path / "absent")
    settings = Settings.model_validate({"data": tmp_path, "embedders": "none", setting: model})
    with pytest.raises(SettingsError) as caught:
        compose(settings)
    assert str(caught.value).startswith(f"{setting}: {model}: ")
    assert "\n" not in str(caught.value)


def test_a_service_that_reranks_is_asked_as_the_settings_say(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("tok-3n")
    with rerank_service() as service:
        settings = Settings(
            data=tmp_path,
            embedders=(),
            widen_factor=3,
            reranker=f"{service.url}#model=m&api=tei&seconds=20",
            reranker_token_file=tmp_path / "token",
        )
        engine, _ = compose(settings)
        reranker = engine.rerankers.codebert
        assert isinstance(reranker, HttpReranker)
        assert reranker.widen_factor == 3
        assert reranker.scores("q", [RerankCandidate("ab", 0.0)], never_stop) == [0.002]
        reranker.close()
    (request,) = service.requests
    assert request.headers["Authorization"] == "Bearer tok-3n"
    assert request.body == {"model": "m", "query": "q", "texts": ["ab"], "truncate": True}


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("api=soap", "api=soap must be rerank or tei"),
        ("seconds=0", "seconds=0 must be a number above 0, 3600 at most"),
        ("dimensions=3", "dimensions is none of api, model, seconds"),
    ],
)
def test_a_service_with_an_option_that_cannot_be_used_is_told_in_one_line(
    tmp_path: Path, options: str, problem: str
) -> None:
    settings = Settings(data=tmp_path, embedders=(), reranker=f"https://a.example/#{options}")
    with pytest.raises(SettingsError) as caught:
        compose(settings)
    assert str(caught.value) == f"reranker: https://a.example/#{options}: {problem}"


def test_a_token_of_a_reranker_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "absent"
    settings = Settings(data=tmp_path, embedders=(), reranker="https://a.example/", reranker_token_file=file)
    with pytest.raises(SettingsError) as caught:
        compose(settings)
    rule = "needs a token that cannot be read: No such file or directory"
    assert str(caught.value) == f"reranker_token_file: {file}: {rule}"


def test_a_model_with_a_converted_copy_is_not_loaded(tmp_path: Path) -> None:
    record = EncoderRecord("absent", "m", 1, 3, "mean", 8, "", ())
    EncoderStore(tmp_path).put(record, {})
    compose(Settings(data=tmp_path, embedders=("absent",)))


@pytest.mark.parametrize("content", [None, "rules: 3", "rules: ["], ids=["absent", "no rules", "no YAML"])
def test_boost_rules_that_cannot_be_used_are_told_in_one_line(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "boosts.yaml"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        compose(Settings(data=tmp_path, embedders=(), corpus_boosts=file))
    assert str(caught.value).startswith(f"corpus_boosts: {file}: ")
    assert "\n" not in str(caught.value)


def test_boost_rules_of_the_operator_replace_the_packaged_ones(tmp_path: Path) -> None:
    file = tmp_path / "boosts.yaml"
    rule = "{name: ops, keywords: [vat], corpus_types: [CODE_SQL], multiplier: 2.0}"
    file.write_text(f"rules: [{rule}]", encoding="utf-8")
    engine, _ = compose(Settings(data=tmp_path, embedders=(), corpus_boosts=file))
    assert [rule.name for rule in engine.query_settings.boosts.called("deploy vat")] == ["ops"]
    engine, _ = compose(Settings(data=tmp_path, embedders=()))
    assert [rule.name for rule in engine.query_settings.boosts.called("deploy vat")] == ["deployment"]


def test_routing_and_defaults_are_those_of_the_settings(tmp_path: Path) -> None:
    file = tmp_path / "routing.yaml"
    file.write_text("rules: [{name: help, when: {process: help}}]", encoding="utf-8")
    settings = Settings(data=tmp_path, embedders=(), routing=file, default_top_k=7)
    engine, _ = compose(settings)
    assert [rule.name for rule in engine.query_settings.routing] == ["help"]
    assert engine.query_settings.defaults == replace(QueryDefaults(), top_k=7)
    engine, _ = compose(Settings(data=tmp_path, embedders=()))
    assert (engine.query_settings.routing, engine.query_settings.defaults) == ((), QueryDefaults())


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "No such file or directory"),
        ("rules: [", "is not YAML"),
        ("rules: [{name: a, when: {process: b}, parameters: {top_k: 9}}]", "top_k: is 9; give 1 to 8"),
    ],
)
def test_routing_rules_that_cannot_be_used_are_told_in_one_line(
    tmp_path: Path, content: str | None, problem: str
) -> None:
    file = tmp_path / "routing.yaml"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        compose(Settings(data=tmp_path, embedders=(), routing=file, max_top_k=8))
    assert str(caught.value).startswith(f"routing: {file}: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)
