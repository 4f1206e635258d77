"""Which comments at the head of a file state its licence or copyright, and nothing about the code below."""

import re
from itertools import islice

_FIRST_LINES = 3
"""A notice must say what it is within this number of its lines; lines without words do not count."""

_WORD = re.compile(r"[\w©@-]++")
_PHRASES = re.compile(
    r"copyright c|copyright ©|copyright by|copyright the|copyright file|all rights reserved|spdx-license-identifier|"
    r"spdx-filecopyrighttext|licensed to|licensed under|distributed under the|required by applicable law|"
    r"permission is hereby granted|redistribution and use in|this file is part of|this program is free software|"
    r"this software is provided|public domain|public license|apache license|mit license|bsd license|software license|"
    r"style license"
)
_DATED = re.compile(r"(?:copyright|©|\bc)(?: [^ ]++){0,5} \d{4}\b")
_TAG = re.compile(r"^@(?:license|copyright)\b", re.MULTILINE)


def is_notice(comment: str) -> bool:
    """True if a comment is a licence or copyright notice, by the words of its first lines."""
    lines = (" ".join(_WORD.findall(line)) for line in comment.lower().replace("licence", "license").split("\n"))
    first = "\n".join(islice(filter(None, lines), _FIRST_LINES))
    words = first.replace("\n", " ").replace("-style", " style")
    said = _PHRASES.search(words) is not None
    return said or _DATED.search(words) is not None or _TAG.search(first) is not None
