"""Where brackets close in C# and JavaScript: strings, characters and comments are passed over."""

import re

_OPENING = "([{"
_CLOSING = ")]}"
_SKIPPED = (
    r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|@\*(?:[^*]|\*(?!@))*+(?:\*@)?"
    r'|\$*"""(?:[^"]|"(?!""))*+(?:"""+)?'
    r'|(?:\$@|@\$|@)"(?:[^"]|"")*+"?'
    r'|\$?"(?:[^"\\\n]|\\[^\n])*+"?'
    r"|'(?:[^'\\\n]|\\[^\n]){1,200}+'"
    r"|`(?:[^`\\]|\\(?s:.))*+`?"
    r"|[()\[\]{}]"
)
_BRACKETS = re.compile(_SKIPPED)
_STEPS = re.compile(_SKIPPED + r"|[@;]|<(?=[A-Za-z!])")


def balanced_end(text: str, start: int) -> int:
    """The offset behind the bracket that closes the one at `start`; the end of the text when none does.

    All sorts of brackets count alike, so that one that is missing costs no more than the rest of the text.
    """
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        first = match.group()[0]
        if first in _OPENING:
            depth += 1
        elif first in _CLOSING and len(match.group()) == 1:
            depth -= 1
            if depth <= 0:
                return match.end()
    return len(text)


def code_step(text: str, start: int) -> re.Match[str] | None:
    """The next string, comment, bracket, `;`, `@` or what may be a tag, from `start` on; None when there is none."""
    return _STEPS.search(text, start)
