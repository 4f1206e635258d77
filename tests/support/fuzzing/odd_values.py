"""Values that programs stumble over: ends of number types, bounds of the contract, strange Unicode, long texts."""

from collections.abc import Sequence
from random import Random

NAN, INFINITY = float("nan"), float("inf")
NUMBERS = (0, 1, -1, 2, 7, 16, 17, 64, 255, 999, 1_000, 1_001, 2_000, 2_001, 10_001, 100_001, 1_000_001, 10_000_001)
WIDE_NUMBERS = (2**31 - 1, -(2**31))
WIDEST_NUMBERS = (*WIDE_NUMBERS, 2**53 + 1, 2**63 - 1, -(2**63), 253_402_300_800, -62_135_596_801)
FRACTIONS = (
    0.0, -0.0, 1.0, -1.0, 0.5, 1.0000001, 5e-324, 1e-45, 3.4e38, 1e39, -1e39, 1.7e308, 36_500.1, NAN, INFINITY,
    -INFINITY,
)  # fmt: skip
LENGTHS = (64, 128, 129, 200, 201, 256, 257, 1_024, 1_025, 2_048, 2_049, 8_192, 8_193)
RARE_LENGTHS = (20_000, 100_000)
_ONE_IN_RARE = 40
STRANGE = (
    "", " ", "\t\n\r", "\0", "a\0b", "\x1b[31m", "\x7f", "\u0085", "\u00ad", "\u200b", "\u200d", "\u202eabc", "\u2028",
    "\ufeff", "\ufffd", "\ufffe", "\uffff", "\ue000", "\U000e0041", "\U0010ffff", "\u0301", "z" + "\u0300\u0489" * 40,
    "İ", "ß", "ﬃ", "ǅ", "Σας", "é", "e\u0301", "가", "\u1100\u1161", "👩\u200d👧", "🇩🇪", "١٢٣", "²", "Ⅷ", "\u0966",
    "\U0001d4b3", "漢字かな", "שלום", "नमस्ते",
    "::", "a::b", ":a", "a:", "..", "../../etc/passwd", "/", "//", "\\", "C:\\x", "-", "--data", "*", "%", "%00",
    "%s%n", "'; DROP TABLE nodes; --", '"', '""', '"unclosed', "`", "$(id)", "{{7*7}}", "${jndi:x}", "<|endoftext|>",
    "(" * 300, "a." * 300, "a_" * 300, "aA" * 300, "/a" * 300, "(a+)+$", "[", "NaN", "null", "true", "-0", "1e999",
)  # fmt: skip
FILLERS = ("x", "A", " ", "a ", "ä", "漢", "😀", "\0", ".", "_", "aB", "a::", "get_user ", '"', "\u0301", "9")


def odd_integer(chance: Random, widest: bool) -> int:
    """An integer of 32 bits, or of 64."""
    drawn = chance.random()
    if drawn < 0.5:
        return chance.choice(NUMBERS)
    if drawn < 0.8:
        return chance.choice(WIDEST_NUMBERS if widest else WIDE_NUMBERS)
    bits = chance.randrange(1, 64 if widest else 32)
    return chance.getrandbits(bits) * chance.choice((1, -1))


def odd_fraction(chance: Random) -> float:
    """A floating-point number, finite or not."""
    return chance.choice(FRACTIONS) if chance.random() < 0.7 else chance.uniform(-2.0, 2.0)


def odd_string(chance: Random, known: Sequence[str]) -> str:
    """A string that may be encoded; `known` are strings that mean something where it goes."""
    drawn = chance.random()
    if drawn < 0.4:
        return chance.choice(STRANGE)
    if drawn < 0.55:
        return chance.choice(known) + chance.choice(STRANGE)
    if drawn < 0.65:
        return chance.choice(known)
    if drawn < 0.8:
        return "".join(chr(_code_point(chance)) for _ in range(chance.randrange(1, 40)))
    lengths = RARE_LENGTHS if chance.randrange(_ONE_IN_RARE) == 0 else LENGTHS
    length, filler = chance.choice(lengths), chance.choice(FILLERS)
    return (filler * (length // len(filler) + 1))[:length]


def _code_point(chance: Random) -> int:
    """Any but a surrogate, which no UTF-8 has; each plane's beginning more often than its rest."""
    point = chance.getrandbits(chance.choice((5, 7, 8, 11, 16, 20)))
    return 0xD7FF if 0xD800 <= point <= 0xDFFF else point
