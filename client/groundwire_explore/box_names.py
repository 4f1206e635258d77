"""The names of boxes: short, but long enough to differ from those of the other boxes."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from groundwire_explore.describing import short_name
from groundwire_explore.drawing import cut

_CUT = "…"
_WORD = re.compile(r"(?:::|->| > |[.#/\\])")
"""What separates the parts of a full name."""
_MOST_PARTS = 12


def distinct_names(nodes: Sequence[tuple[str, str]]) -> list[str]:
    """A name of each node, given its full name and its path.

    It is the short name. Where several nodes have the same one, they have the first of these forms that makes them
    differ: more parts of the full name (`Invoice.Create`), its arguments (`Create(int)`), the end of the path
    (`main · a.go`).
    """
    names = [short_name(name, path) for name, path in nodes]
    groups: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        groups[name].append(place)
    for places in groups.values():
        if len(places) > 1:
            for place, name in zip(places, _apart([nodes[place] for place in places]), strict=True):
                names[place] = name
    return names


def _apart(nodes: Sequence[tuple[str, str]]) -> list[str]:
    """The first form in which all names differ, else the one in which most do."""
    forms = [[_with_parts(name, parts) for name, _ in nodes] for parts in range(2, _MOST_PARTS)]
    forms += [[_with_arguments(name, short_name(name, path)) for name, path in nodes], [name for name, _ in nodes]]
    forms += [[_with_path(*node, parts) for node in nodes] for parts in range(1, _MOST_PARTS)]
    return max(forms, key=lambda names: len(set(names)))


def _with_parts(name: str, parts: int) -> str:
    """The last parts of a full name, without arguments."""
    head = name.partition("(")[0]
    ends = [separator.end() for separator in _WORD.finditer(head)]
    return head[ends[-parts] :] if len(ends) >= parts else head


def _with_arguments(name: str, short: str) -> str:
    return short + "".join(name.partition("(")[1:])


def _with_path(name: str, path: str, parts: int) -> str:
    """The short name and the last parts of the path; of a file these alone."""
    short, end = short_name(name, path), "/".join(path.split("/")[-parts:])
    return end if path.endswith(short) else f"{short} · {end}"


def fitted(names: Sequence[str], room: float) -> list[str]:
    """As much of each name as there is room for; what makes names differ stays.

    A name is cut at its end. Names that would read the same are cut in the middle, or else at their beginning.
    """
    shown = [cut(name, room) for name in names]
    for cut_name in (_cut_in_the_middle, _cut_at_the_beginning):
        counts = Counter(zip(shown, map(bool, shown), strict=True))
        for place, name in enumerate(names):
            if shown[place] != name and counts[shown[place], True] > 1:
                shown[place] = cut_name(name, len(shown[place]))
    return shown


def _cut_in_the_middle(name: str, characters: int) -> str:
    end = (characters - len(_CUT)) // 2
    return name[: characters - len(_CUT) - end] + _CUT + name[len(name) - end :]


def _cut_at_the_beginning(name: str, characters: int) -> str:
    return _CUT + name[len(name) - characters + len(_CUT) :]
