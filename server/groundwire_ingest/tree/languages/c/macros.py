"""Blanks for text in C and C++ that the grammars have no place for: macros, and braces in branches."""

import re

# A macro between `class` and the name.
_EXPORT = re.compile(
    rb"\b(?:class|struct|union)[ \t]+([A-Z][A-Z0-9_]+(?:\([^()\n]{0,100}\))?)[ \t]+(?=[A-Za-z_]\w*\s*(?:final\s*)?[:{])"
)
# A macro in front of the type of a function.
_IN_FRONT = re.compile(
    rb"^[ \t]*(?:extern[ \t]+|static[ \t]+)?([A-Z][A-Z0-9]*_[A-Z0-9_]+(?:\([^()\n]{0,100}\))?)[ \t]+"
    rb"(?=(?:const[ \t]+|struct[ \t]+|unsigned[ \t]+|inline[ \t]+){0,3}"
    rb"[A-Za-z_][\w:<>]{0,100}[ \t*&]+[A-Za-z_]\w{0,100}[ \t]*\()",
    re.MULTILINE,
)
# A macro by itself where a declaration could be.
_ALONE = re.compile(
    rb"(?:\A|[;{}:][ \t]*\r?\n|^[ \t]*\r?\n)[ \t]*([A-Z][A-Z0-9_]{2,}(?:\([^()\n]{0,100}\))?)[ \t]*\r?$", re.MULTILINE
)
# `extern "C" {` and its end where only a compiler of C++ sees them: the braces are in branches of their own.
_LINKAGE = re.compile(
    rb"^[ \t]*#[ \t]*if(?:def[ \t]+|[ \t]+defined[ \t]*+(?:\([ \t]*+)?)__cplusplus[^\n]*\n"
    rb"((?:[ \t]*+(?:extern[ \t]+\"C\"[ \t]*+\{?|\{|\})?[ \t]*+(?:/[/*][^\n]*+)?\r?\n)++)[ \t]*#[ \t]*e(?:ndif|lse)",
    re.MULTILINE,
)
_TEXT = re.compile(rb"[^\r\n]")


def without_macros(source: bytes) -> bytes:
    """The source with blanks in place of macros that hide declarations; no line and no other byte moves."""
    for pattern in (_LINKAGE, _EXPORT, _IN_FRONT, _ALONE):
        source = pattern.sub(_blanked, source)
    return source


def _blanked(match: re.Match[bytes]) -> bytes:
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:start] + _TEXT.sub(b" ", match[1]) + match[0][end:]
