"""Parts that cannot be put together are told as settings that cannot be used."""

from pathlib import Path

import pytest

from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.compose import compose


def test_a_server_without_models_is_put_together_over_an_empty_folder(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, embedders=(), max_top_k=7, widen_factor=3)
    engine, indexes = compose(settings)
    assert engine.limits == settings.limits
    assert engine.rerankers.keyword.widen_factor == 3
    assert engine.rerankers.codebert is None
    assert engine.backend is indexes
    assert engine.graph is indexes


def test_a_file_is_no_data_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SettingsError, match=r"^data: .*file: is no folder; build an index into it"):
        compose(Settings(data=file))


@pytest.mark.parametrize("setting", ["embedders", "cross_encoder"])
def test_a_model_that_cannot_be_loaded_is_told_in_one_line(tmp_path: Path, setting: str) -> None:
    model = str(tmp_path / "absent")
    settings = Settings.model_validate({"data": tmp_path, "embedders": "none", setting: model})
    with pytest.raises(SettingsError) as caught:
        compose(settings)
    assert str(caught.value).startswith(f"{setting}: {model}: ")
    assert "\n" not in str(caught.value)
