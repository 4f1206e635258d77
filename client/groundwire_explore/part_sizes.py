"""How large the parts of a folder are drawn: by their nodes, but what is beside the code gets little room.

Beside the code are tests, generated code, data, change logs and licences, and the older definitions of a database
object that many scripts define.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from groundwire_client import SearchHit
from groundwire_explore.folders import Folder, Part

_MOST_BESIDE = 0.15
"""The share of the whole area that everything beside the code has at most."""
_LEAST_CODE = 0.1
"""In a folder with a smaller share of code all counts alike: such a folder is one of tests or data."""
_LEAST_SHARE, _LEAST_BESIDE = 0.01, 0.0025
"""The share of the whole that each area has at least, so that it can be seen; and one of which most is beside."""
_PAPERS = re.compile(
    r"(?:changelog|changes|history|news|release[-_ ]?notes|licen[cs]es?|copying|notices?|authors|contributors|"
    r"third[-_ ]?party[-_ ]?(?:notices?|licen[cs]es?)?)(?![a-z])",
    re.IGNORECASE,
)
"""How names of change logs, licences and the like begin."""
_DATA = (".json", ".jsonl", ".csv", ".tsv", ".resx", ".txt", ".po", ".svg")


def is_beside_code(hit: SearchHit) -> bool:
    """True for a node of a test, of generated code, of data, or of a change log or licence."""
    name = hit.location.path.rpartition("/")[2]
    return hit.is_test or hit.is_generated or name.endswith(_DATA) or _is_paper(name)


def with_sizes(folder: Folder, older: Collection[str]) -> Folder:
    """The folder with sizes of its parts, the largest first; `older` are ids of older definitions."""
    nodes = {part.path: part.nodes for part in folder.parts}
    return replace(folder, parts=_sized(folder, folder.hits, nodes, older))


def parts_inside(folder: Folder, part: Part, older: Collection[str]) -> tuple[Part, ...]:
    """The folders and files directly in a part, with the nodes that were read of each; see `with_sizes`."""
    if not part.is_folder:
        return ()
    inner = replace(folder, path=part.path)
    return _sized(inner, folder.hits, inner.read_of(folder.hits), older)


def _is_paper(name: str) -> bool:
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    return bool(_PAPERS.match(name)) and suffix in ("", "md", "mdx", "rst", "adoc", "txt", "html")


def _sized(
    folder: Folder, hits: Iterable[SearchHit], nodes: Mapping[str, int], older: Collection[str]
) -> tuple[Part, ...]:
    read: Counter[str] = Counter()
    beside: Counter[str] = Counter()
    for hit in hits:
        path = folder.part_of(hit.location.path)
        read[path] += 1
        beside[path] += is_beside_code(hit) or hit.id in older
    shares = {path: beside[path] / read[path] if read[path] else 0.0 for path in nodes}
    total = sum(nodes.values())
    all_beside = sum(nodes[path] * shares[path] for path in nodes)
    code = total - all_beside
    room = code * _MOST_BESIDE / (1 - _MOST_BESIDE)
    is_limited = all_beside > room and code >= _LEAST_CODE * total
    factor = room / all_beside if is_limited else 1.0
    sizes = {path: nodes[path] * (1 - shares[path] + factor * shares[path]) for path in nodes}
    whole = sum(sizes.values())
    parts = [
        Part(path, nodes[path], max(sizes[path], whole * _least(shares[path], is_limited=is_limited))) for path in nodes
    ]
    return tuple(sorted(parts, key=lambda part: (-part.size, part.path)))


def _least(share: float, *, is_limited: bool) -> float:
    return _LEAST_BESIDE if is_limited and share > 1 / 2 else _LEAST_SHARE
