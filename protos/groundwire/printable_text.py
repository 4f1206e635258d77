"""The one function that makes a text safe for people to read, wherever a server, client or command shows one."""

_CONTROL_PICTURES = {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"} | {127: 0x2421}
_C1_CONTROLS = range(128, 160)
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SURROGATES = range(0xD800, 0xE000)
_REPLACEMENTS = _CONTROL_PICTURES | dict.fromkeys((*_C1_CONTROLS, *_DIRECTIONS, *_SURROGATES), 0xFFFD)


def printable(text: str) -> str:
    """A text that shows what it holds, whoever wrote it: an indexed file, a server, a model.

    Control characters become visible signs, so that no text steers the reader's terminal. So do characters that change
    the direction of writing, which would show another text than there is, and halves of surrogate pairs, which UTF-8
    has none of. Tabs and line feeds stay; a carriage return before a line feed goes.
    """
    return text.replace("\r\n", "\n").translate(_REPLACEMENTS)


def one_line(text: str) -> str:
    """As `printable`, without line breaks: for labels, messages and cells of a table."""
    return printable(" ".join(text.split()))
