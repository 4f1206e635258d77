"""The endpoint of a language model, and the environment variables that name it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundwire_configuration.model_service import model_service
from groundwire_pipelines.errors import StepError

URL_VARIABLE = "GROUNDWIRE_MODEL_URL"
NAME_VARIABLE = "GROUNDWIRE_MODEL_NAME"
KEY_VARIABLE = "GROUNDWIRE_MODEL_KEY"

DEFAULT_TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """An OpenAI-compatible endpoint, and the model to use there if a request names no other.

    `url` is the base URL, such as `http://localhost:11434/v1`. `key` is empty for an endpoint without keys.
    `timeout_seconds` limits a whole call, or each piece of a streamed answer; `retries` is the number of further tries
    within it after connection errors and the statuses 408, 409, 429 and 5xx. Steps with `retry` need none.
    """

    url: str
    name: str
    key: str = field(default="", repr=False)
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    retries: int = 0


def endpoint_from_environment(environment: Mapping[str, str]) -> ModelEndpoint | None:
    """The endpoint of `GROUNDWIRE_MODEL_URL`, `_NAME` and `_KEY`; None without URL and name.

    The URL may have the options `#model=NAME&seconds=60`, and end in `/chat/completions`.

    Raises:
        StepError: `model-environment`, if only one of URL and name is set, or a value is malformed.
    """
    try:
        service = model_service(environment.get(URL_VARIABLE, ""), DEFAULT_TIMEOUT_SECONDS)
    except ValueError as error:
        raise StepError("model-environment", f"{URL_VARIABLE}: {error}") from None
    url, name = service.url.removesuffix("/chat/completions"), service.model or environment.get(NAME_VARIABLE, "")
    if not url and not name:
        return None
    if not url or not name:
        raise StepError("model-environment", f"{URL_VARIABLE} must be URL#model=NAME, and is {url!r}")
    if not url.startswith(("http://", "https://")):
        raise StepError("model-environment", f"{URL_VARIABLE} must start with http:// or https://, and is {url!r}")
    return ModelEndpoint(url, name, environment.get(KEY_VARIABLE, ""), service.seconds)
