import pytest

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.models.environment import ModelEndpoint, endpoint_from_environment

BOTH = {"GROUNDWIRE_MODEL_URL": "http://localhost:11434/v1", "GROUNDWIRE_MODEL_NAME": "small"}


def test_url_and_name_suffice() -> None:
    endpoint = endpoint_from_environment(BOTH)
    assert endpoint == ModelEndpoint("http://localhost:11434/v1", "small", "", 120.0)


def test_key_and_timeout_are_taken() -> None:
    environment = {**BOTH, "GROUNDWIRE_MODEL_KEY": "secret", "GROUNDWIRE_MODEL_TIMEOUT_SECONDS": "7.5"}
    endpoint = endpoint_from_environment(environment)
    assert endpoint is not None
    assert (endpoint.key, endpoint.timeout_seconds) == ("secret", 7.5)
    assert "secret" not in repr(endpoint)


def test_without_url_and_name_there_is_no_model() -> None:
    assert endpoint_from_environment({"GROUNDWIRE_MODEL_KEY": "secret"}) is None


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"GROUNDWIRE_MODEL_NAME": "small"}, "GROUNDWIRE_MODEL_URL and GROUNDWIRE_MODEL_NAME go together"),
        ({"GROUNDWIRE_MODEL_URL": "http://localhost/v1"}, "GROUNDWIRE_MODEL_URL and GROUNDWIRE_MODEL_NAME go together"),
        ({**BOTH, "GROUNDWIRE_MODEL_URL": "localhost:80"}, "must start with http:// or https://"),
        ({**BOTH, "GROUNDWIRE_MODEL_TIMEOUT_SECONDS": "soon"}, "number of seconds above 0, and is 'soon'"),
        ({**BOTH, "GROUNDWIRE_MODEL_TIMEOUT_SECONDS": "0"}, "number of seconds above 0, and is '0'"),
        ({**BOTH, "GROUNDWIRE_MODEL_TIMEOUT_SECONDS": "nan"}, "number of seconds above 0, and is 'nan'"),
    ],
)
def test_what_is_half_or_malformed_is_refused(environment: dict[str, str], message: str) -> None:
    with pytest.raises(StepError, match=message) as caught:
        endpoint_from_environment(environment)
    assert caught.value.rule == "model-environment"
