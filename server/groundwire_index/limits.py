"""Limits of what an index holds. Building refuses or cuts what is beyond them, and serving relies on them."""

from groundwire_index.link_template import MAX_LINK_LENGTH
from groundwire_index.scope import MAX_ID_LENGTH

MAX_ACCESS_VALUE_LENGTH = 256
"""Characters of a tenant, an ACL tag, a classification label or an edge type."""

MAX_EDGE_TYPES = 1_000
"""How many types the edges of an index may have: `GetIndex` lists them."""

RESPONSE_BYTES = 4 * 1024 * 1024
"""The size that a gRPC client accepts by default; no response is larger, and every text of an index fits one."""
_BYTES_BESIDE_A_TEXT = 2_264 + MAX_LINK_LENGTH + 3 * MAX_ID_LENGTH
"""The bytes of a response besides one text, its path and its symbol.

They are its own fields, the link, the ids of the node and its parent, and a citation that is the id.
"""
MAX_TEXT_BYTES = RESPONSE_BYTES - _BYTES_BESIDE_A_TEXT
"""The most UTF-8 bytes that a text may have with its symbol and, twice, its path. Such a text has fewer tokens than the
largest budget."""
