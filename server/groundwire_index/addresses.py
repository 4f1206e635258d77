"""Addresses as they may be shown and stored."""

from urllib.parse import urlsplit


def without_credentials(address: str) -> str:
    """An address without user, password, query and fragment, which may hold secrets; a path stays as it is."""
    if "://" not in address:
        return address
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
