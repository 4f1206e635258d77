"""The rules of single settings: each gives the value in its final form or raises ValueError with what it must be."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from groundwire_index.embedding.model_names import checked_url, is_url

NO_NAMES = "none"
_NO_TOKEN = re.compile(r"[^\x21-\x7e]")
_ADDRESS = re.compile(r"(?:\[([^\[\]\s]+)\]|([^\[\]:\s/]+)):([0-9]{1,5})")


def split_address(address: str) -> tuple[str, int]:
    """The host (an IPv6 address without its brackets) and port of HOST:PORT. Raises ValueError."""
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match[3]) > 65_535:
        raise ValueError("must be HOST:PORT with a port of 0 to 65535, an IPv6 host in brackets")
    return match[1] or match[2], int(match[3])


def check_address(address: str) -> str:
    """HOST:PORT."""
    split_address(address)
    return address


def check_optional_address(address: str) -> str:
    """HOST:PORT, or nothing."""
    return check_address(address) if address else address


def split_names(value: object) -> object:
    """Lets the environment and flags give a list as `a,b`, and none of it as `none`."""
    if not isinstance(value, str):
        return value
    return () if value == NO_NAMES else tuple(name.strip() for name in value.split(","))


def check_source(source: str) -> str:
    """A path or name, or a URL whose traffic cannot be read or changed on the way."""
    return checked_url(source) if is_url(source) else source


def check_token(token: SecretStr) -> SecretStr:
    """One word of printable ASCII, or nothing."""
    if _NO_TOKEN.search(token.get_secret_value()):
        raise ValueError("must be one word of printable ASCII")
    return token


Address = Annotated[str, AfterValidator(check_address)]
OptionalAddress = Annotated[str, AfterValidator(check_optional_address)]
PathOrUrl = Annotated[str, AfterValidator(check_source)]
Token = Annotated[SecretStr, AfterValidator(check_token)]
Seconds = Annotated[float, Field(ge=0, le=86_400, allow_inf_nan=False)]
DeadlineSeconds = Annotated[float, Field(gt=0, le=3_600, allow_inf_nan=False)]
Names = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], NoDecode, BeforeValidator(split_names)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
