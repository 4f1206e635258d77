"""Addresses as they may be shown and stored."""

import re

_USERINFO = re.compile(r"(?<=://)[^/@]*@")
_HOST_AND_PORT = re.compile(r"[^:@]*(?::\d*)?|\[[^@]*")


def without_credentials(address: str) -> str:
    """An address without user, password, query and fragment, which may hold secrets; a path stays as it is.

    The address need not be well formed: if its host cannot be one, as in `https://user:pass/word@host/path`, all before
    the last `@` is left out.
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address
    before_path = re.split("[/?#]", rest, maxsplit=1)[0]
    if "@" in before_path:
        rest = rest[before_path.rindex("@") + 1 :]
    elif not _HOST_AND_PORT.fullmatch(before_path):
        rest = rest.rpartition("@")[2]
    return f"{scheme}://{re.split('[?#]', rest, maxsplit=1)[0]}"


def without_userinfo(text: str) -> str:
    """What should be an address, without user and password. It need not be well formed."""
    return _USERINFO.sub("", text, count=1)
