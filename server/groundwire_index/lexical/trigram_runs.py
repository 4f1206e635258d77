"""The trigrams of many names at once, as a sorted run of postings; the same ones as `text.names.trigrams` gives.

Every trigram is packed into one integer of 21 bits per character, so integers sort as their trigrams do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire_index.lexical.term_runs import vocabulary_parts
from groundwire_index.store.segment import Parts
from groundwire_index.store.spans import is_first_of_pair

_BITS = 21
_CHARACTER = (1 << _BITS) - 1
_BEFORE, _AFTER = "  ", " "


def trigram_parts(name: str, names: Sequence[str]) -> tuple[Parts, NDArray[np.int32]]:
    """The run of the trigrams of names, none of them empty, and how many distinct trigrams each name has [names].

    The parts are those of `TermRun.parts`; the rows are the positions of the names.
    """
    padded = "".join(f"{_BEFORE}{own}{_AFTER}" for own in names)
    characters = np.frombuffer(padded.encode("utf-32-le"), dtype="<u4").astype(np.uint64)
    lengths = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    held = lengths + 1
    owners = np.repeat(np.arange(len(names), dtype=np.int32), held)
    # A trigram starts at every character but the last two of each padded name.
    starts = np.arange(len(owners)) + (len(_BEFORE + _AFTER) - 1) * owners
    packed = (
        (characters[starts] << np.uint64(2 * _BITS))
        | (characters[starts + 1] << np.uint64(_BITS))
        | characters[starts + 2]
    )
    order = np.lexsort((owners, packed))
    packed, owners = packed[order], owners[order]
    first = is_first_of_pair(packed, owners)
    packed, owners = packed[first], owners[first]
    terms, counts = np.unique(packed, return_counts=True)
    parts: Parts = {
        **vocabulary_parts(name, [_unpacked(term) for term in terms.tolist()]),
        f"{name}.counts": counts.astype(np.int32),
        f"{name}.rows": owners,
    }
    return parts, np.bincount(owners, minlength=len(names)).astype(np.int32)


def _unpacked(trigram: int) -> str:
    return "".join(chr(trigram >> shift & _CHARACTER) for shift in (2 * _BITS, _BITS, 0))
