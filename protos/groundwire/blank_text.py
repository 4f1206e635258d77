"""Which texts say nothing, as callers and servers judge alike."""

import unicodedata

_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Zl", "Zp", "Zs"})
"""Controls, format characters such as a zero-width space, unassigned code points, and spaces of all kinds."""
_INVISIBLE = frozenset(
    map(chr, (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0x180B, 0x1810)))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Letters and marks that show nothing: fillers, joiners, an empty Braille cell, variation selectors."""


def is_blank(text: str) -> bool:
    """True for a text without a character that can be seen: no search can find by it, and no reader sees it."""
    return all(sign in _INVISIBLE or unicodedata.category(sign) in _INVISIBLE_CATEGORIES for sign in text)
