"""Addresses as they may be shown and stored."""

import re
from urllib.parse import unquote

_USERINFO = re.compile(r"(?<=://)[^/@]*@")
_USUAL_USER = "git"
_HOST_AND_PORT = re.compile(r"[^:@]*(?::\d*)?|\[[^@]*")


def without_credentials(address: str) -> str:
    """An address without user, password, query and fragment, which may hold secrets; a path stays as it is.

    The address need not be well formed: if its host cannot be one, as in `https://user:pass/word@host/path`, all before
    the last `@` is left out.
    """
    return _parts(address)[0]


def without_secrets(text: str, address: str) -> str:
    """A message of a library, which may quote an address, without what `without_credentials` leaves out of that."""
    for secret in _parts(address)[1]:
        text = text.replace(secret, "...")
    return text


def _parts(address: str) -> tuple[str, tuple[str, ...]]:
    """An address without credentials, and the texts that it lacks then, the longest first."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address, ()
    userinfo = ""
    before_path = re.split("[/?#]", rest, maxsplit=1)[0]
    if "@" in before_path:
        userinfo, rest = rest[: before_path.rindex("@")], rest[before_path.rindex("@") + 1 :]
    elif not _HOST_AND_PORT.fullmatch(before_path):
        userinfo, _, rest = rest.rpartition("@")
    place, *after = re.split("[?#]", rest, maxsplit=1)
    password = userinfo.partition(":")[2]
    # The user of an ssh address is no secret. In an https address it may be a token, unless it is the usual `git`.
    texts = [password, *after] if scheme == "ssh" else [userinfo, password, *after]
    secrets = {part for text in texts for part in (text, unquote(text)) if part not in ("", _USUAL_USER)}
    return f"{scheme}://{place}", tuple(sorted(secrets, key=len, reverse=True))


def without_userinfo(text: str) -> str:
    """What should be an address, without user and password. It need not be well formed."""
    return _USERINFO.sub("", text, count=1)
