"""Texts from a server, made safe for a terminal."""

_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_C1_CONTROLS = dict.fromkeys(range(128, 160), 0xFFFD)
_REPLACEMENTS = _CONTROL_PICTURES | _C1_CONTROLS


def printable(text: str) -> str:
    """`text` with control characters as visible signs, so that indexed sources cannot steer the reader's terminal.

    Tabs and line feeds stay; a carriage return before a line feed goes.
    """
    return text.replace("\r\n", "\n").translate(_REPLACEMENTS)
