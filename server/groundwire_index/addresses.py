"""Addresses as they may be shown and stored."""

import re
from urllib.parse import urlsplit

_USERINFO = re.compile(r"(?<=://)[^/@]*@")


def without_credentials(address: str) -> str:
    """An address without user, password, query and fragment, which may hold secrets; a path stays as it is."""
    if "://" not in address:
        return address
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def without_userinfo(text: str) -> str:
    """What should be an address, without user and password. It need not be well formed."""
    return _USERINFO.sub("", text, count=1)
