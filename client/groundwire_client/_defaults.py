"""The defaults that methods, commands, page and tools of the clients share: each is defined only here."""

from typing import Final

TOP_K: Final = 10
"""Hits of a search."""
MAX_LINES: Final = 100
"""Matching lines of an exact search."""
MAX_DEPTH: Final = 2
"""Edges between a seed and a node of a walk."""
MAX_NODES: Final = 50
"""Nodes of a walk, seeds included."""
EDGE_TYPES: Final = ("*",)
"""Which edges walks and paths follow: all."""
MAX_HOPS: Final = 6
"""Edges on a path."""
MAX_PATHS: Final = 5
MAX_NODES_BETWEEN: Final = 2_000
"""Nodes that a search for paths reaches between their ends."""
BUDGET_TOKENS: Final = 4_000
"""Tokens of the texts of a fetch, and of evidence."""
END_TOP_K: Final = 5
"""Nodes that a search finds for an end of paths, where words are searched for on request."""
MAX_NAMED_NODES: Final = 50
"""Nodes that a name means, and candidates of an ambiguous one."""
TIMEOUT: Final = 10.0
"""Seconds until a call gives up, its retries included."""
