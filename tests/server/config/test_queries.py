"""What a query without a parameter takes."""

from pathlib import Path

import pytest

from groundwire_server.config import Settings, SettingsError, load_settings
from groundwire_server.domain.query.query_parameters import QueryDefaults


@pytest.mark.parametrize(("most", "matches"), [(1, 1), (4, 4), (5, 5), (1_000, 5)])
def test_the_default_of_top_k_is_no_more_than_the_most(most: int, matches: int) -> None:
    assert load_settings(None, max_top_k=most).query_defaults.top_k == matches


def test_the_defaults_of_a_query_can_be_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"top_k": 9, "alpha": 0.25, "min_sim": 0.5, "diversify_strength": 0.125}
    path = tmp_path / "groundwire.yaml"
    path.write_text("".join(f"default_{name}: {value}\n" for name, value in values.items()))
    configured = QueryDefaults(9, 0.25, 0.5, 0.125)
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
        ({"default_diversify_strength": 2}, "default_diversify_strength: 2: must be less than or equal to 1"),
    ],
)
def test_defaults_of_a_query_out_of_bounds_are_told(given: dict[str, object], line: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(None, **given)
    assert line in str(caught.value)
