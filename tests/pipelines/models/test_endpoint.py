import pytest

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.models.endpoint import ModelEndpoint, endpoint_from_environment

BOTH = {"GROUNDWIRE_MODEL_URL": "http://localhost:11434/v1", "GROUNDWIRE_MODEL_NAME": "small"}


def test_url_and_name_suffice() -> None:
    endpoint = endpoint_from_environment(BOTH)
    assert endpoint == ModelEndpoint("http://localhost:11434/v1", "small", "", 120.0)


def test_options_of_the_url_and_the_key_are_taken() -> None:
    url = "http://localhost:11434/v1/chat/completions#model=other&seconds=7.5"
    endpoint = endpoint_from_environment({**BOTH, "GROUNDWIRE_MODEL_URL": url, "GROUNDWIRE_MODEL_KEY": "secret"})
    assert endpoint == ModelEndpoint("http://localhost:11434/v1", "other", "secret", 7.5)
    assert "secret" not in repr(endpoint)


def test_without_url_and_name_there_is_no_model() -> None:
    assert endpoint_from_environment({"GROUNDWIRE_MODEL_KEY": "secret"}) is None


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"GROUNDWIRE_MODEL_NAME": "small"}, "MODEL_URL must be URL#model=NAME, and is ''"),
        ({"GROUNDWIRE_MODEL_URL": "http://a/v1?b"}, r"must be URL#model=NAME, and is 'http://a/v1\?b'"),
        ({**BOTH, "GROUNDWIRE_MODEL_URL": "localhost:80"}, "must start with http:// or https://"),
        ({**BOTH, "GROUNDWIRE_MODEL_URL": "http://a#seconds=soon"}, "MODEL_URL: seconds=soon must be a number above 0"),
        ({**BOTH, "GROUNDWIRE_MODEL_URL": "http://a#model=b#seconds=3"}, "MODEL_URL: options have & between them"),
        ({**BOTH, "GROUNDWIRE_MODEL_URL": "http://a#size=3"}, "MODEL_URL: size is none of model, seconds"),
    ],
)
def test_what_is_half_or_malformed_is_refused(environment: dict[str, str], message: str) -> None:
    with pytest.raises(StepError, match=message) as caught:
        endpoint_from_environment(environment)
    assert caught.value.rule == "model-environment"
