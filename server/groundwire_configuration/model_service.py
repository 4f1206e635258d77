"""How a model behind HTTP is named, wherever one is configured: `https://host/path#model=NAME&seconds=10`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urldefrag

MOST_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True)
class ModelService:
    """A service: requests go to `url`, for the model `model` (`""` for its only one), and take `seconds` at most.

    `options` are those that only this kind of service has.
    """

    url: str
    model: str
    seconds: float
    options: Mapping[str, str]


def model_service(name: str, seconds: float, further: Iterable[str] = ()) -> ModelService:
    """Reads the name of a service with its options; `seconds` is the default, `further` what it knows besides.

    Raises ValueError for an option that is unknown or cannot be used.
    """
    url, fragment = urldefrag(name)
    if "#" in fragment:
        raise ValueError("options have & between them, and a # before the first one only")
    options = dict(parse_qsl(fragment, keep_blank_values=True))
    known = {"model", "seconds", *further}
    if unknown := sorted(options.keys() - known):
        raise ValueError(f"{unknown[0]} is none of {', '.join(sorted(known))}")
    model, limit = options.pop("model", ""), options.pop("seconds", str(seconds))
    try:
        seconds = float(limit)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise ValueError(f"seconds={limit} must be a number above 0, {MOST_SECONDS:g} at most")
    return ModelService(url, model, seconds, options)
