"""What a person sees on a terminal that a program writes to."""

import re

_PART = re.compile(r"\x1b\[(?P<number>\d*)(?P<code>[A-Za-z])|\x1b\[\?\d+[hl]|\x1b\[[\d;]*m|[\r\n]|[^\x1b\r\n]+")


def screen(output: str) -> list[str]:
    """The lines of a terminal of endless width and height after it was told all this.

    Knows the codes that rich moves with: up by lines (`A`) and erase the line (`K`).
    """
    lines, row, column = [""], 0, 0
    for part in _PART.finditer(output):
        text = part[0]
        if text == "\r":
            column = 0
        elif text == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif part["code"] == "A":
            row -= int(part["number"] or 1)
        elif part["code"] == "K":
            lines[row] = ""
        elif not text.startswith("\x1b"):
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
    return lines
