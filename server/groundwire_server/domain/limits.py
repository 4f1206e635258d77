"""Bounds that every request is checked against. An operator may only lower MAX_TOP_K."""

MAX_TOP_K = 1_000
MAX_QUERY_CHARS = 8_192
MAX_PHRASINGS = 8
MAX_PATTERN_CHARS = 1_000
MAX_TEXT_MATCHES = 1_000
MAX_CONTEXT_LINES = 10
MIN_EVIDENCE_TOKENS = 200
MAX_EVIDENCE_TOKENS = 100_000
MAX_EXPAND_NODES = 2_000
MAX_NAMES = 100
MAX_NODES_OF_A_NAME = 200
MAX_SIMILAR_NAMES = 3
MAX_DEPTH = 16
MAX_SEEDS = 1_000
MAX_EDGE_TYPES = 64
MAX_PATH_ENDS = 100
MAX_HOPS = 16
MAX_PATHS = 100
MAX_PATH_LINKS = 50_000
MAX_FETCH_IDS = 10_000
MAX_FETCH_ID_BYTES = 2 * 1024 * 1024
MAX_MATCHED_TOKENS = 16
MAX_NODE_DEPTH = 1_000_000
MAX_BUDGET_TOKENS = 10_000_000
MAX_BUDGET_CHARS = 100_000_000
MAX_FILTER_VALUES = 256
MAX_FILTER_VALUE_LENGTH = 1_024
MAX_FILTER_CONDITIONS = 256
MAX_LIST_LIMIT = 10_000
MAX_HALF_LIFE_DAYS = 36_500.0
MAX_ROUTING_LENGTH = 1_024
MAX_ACCESS_VALUES = 1_024
MAX_SCOPES = 200
MAX_VECTOR_COMPONENTS = 16_384

CALL_MEMORY_SHARES = 4
"""The memory of calls is divided into this number of equal parts; an identity may hold one of them."""

_OBJECTS_BYTES = 4 * 1024 * 1024
_BYTES_FOR_EACH = 64


def request_memory(size: int) -> int:
    """The most memory, in bytes, that a request of `size` bytes takes as a message and decoded.

    Both have its strings. Its entries are objects: the counts above allow some megabytes of them, and one byte makes at
    most 64 bytes of them.
    """
    return min(_BYTES_FOR_EACH * size, 2 * size + _OBJECTS_BYTES)
