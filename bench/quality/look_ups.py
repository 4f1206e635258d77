"""Identifier look-ups drawn from a corpus: a name, without or with one typing error, and the documents of that name."""

import random
import re
import string
from collections.abc import Iterable, Sequence

from bench.quality.sets import Document, JudgedQuery

LEAST_CHARACTERS = 4
UNAMBIGUOUS = "unambiguous"
"""The part of the look-ups whose name belongs to only one document."""
_SEED = 4


def draw_look_ups(corpus: Iterable[Document], count: int) -> list[JudgedQuery]:
    """`count` distinct names, or all if there are fewer, drawn with a fixed seed; sorted.

    A document's name is the last segment of its symbol. Names shorter than four characters and Python's special names
    (`__init__`) are not drawn.
    """
    bearers: dict[str, list[str]] = {}
    for document in corpus:
        name = last_segment(document.symbol)
        if len(name) >= LEAST_CHARACTERS and not (name.startswith("__") and name.endswith("__")):
            bearers.setdefault(name, []).append(document.id)
    names = sorted(bearers)
    drawn = random.Random(_SEED).sample(names, min(count, len(names)))
    return [
        JudgedQuery(query=name, relevant=tuple(bearers[name]), parts=(UNAMBIGUOUS,) if len(bearers[name]) == 1 else ())
        for name in sorted(drawn)
    ]


def with_typos(look_ups: Sequence[JudgedQuery]) -> list[JudgedQuery]:
    """The same look-ups, each with a letter removed, inserted, replaced, or swapped with the next; fixed seed."""
    generator = random.Random(_SEED)
    return [look_up.model_copy(update={"query": _slip(look_up.query, generator)}) for look_up in look_ups]


def last_segment(symbol: str) -> str:
    """The part after the last separator of a qualified name."""
    return re.split(r"::|#|\.", symbol)[-1]


def _slip(name: str, generator: random.Random) -> str:
    while True:
        position = generator.randrange(len(name))
        letter = generator.choice(string.ascii_lowercase)
        before, here, after = name[:position], name[position], name[position + 1 :]
        slips = (
            before + after,
            before + letter + here + after,
            before + letter + after,
            before + after[:1] + here + after[1:],
        )
        changed = generator.choice(slips)
        if changed != name:
            return changed
