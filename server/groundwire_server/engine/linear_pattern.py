"""Regular expressions whose search takes time linear in the text, whoever wrote them: those of RE2."""

import re
from typing import NamedTuple

import re2

from groundwire_server.engine.required_literals import required_literals

_MEMORY_BYTES = 4 << 20
"""The most memory of a compiled pattern; one that needs more is refused, or searched more slowly."""
MOST_INSTRUCTIONS = 2_000
"""A larger pattern is refused: in the worst case, a byte costs some 3 ns for each instruction."""
_CHECKED_BYTES = 1 << 19
"""The memory that a pattern is first compiled with. RE2 gives up a much larger pattern then, after some milliseconds.

A pattern of MOST_INSTRUCTIONS takes a part of it.
"""
MOST_UNICODE_CLASSES = 30
"""A pattern with more classes such as `\\pL` is refused: RE2 takes half a millisecond to read each one of them.

More of them would hardly be within MOST_INSTRUCTIONS.
"""
_PART = re.compile(
    r"""
    \\Q(?:(?!\\E).)*                                      # quoted text
    | \[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*           # a class of characters
    | \\(?P<escaped>.)
    | \(\?[a-zA-Z]*(?P<taken_away>-[a-zA-Z]*)?[:)]        # flags
    | .
    """,
    re.DOTALL | re.VERBOSE,
)


class PatternError(Exception):
    """The pattern cannot be compiled; the message says why."""


class Span(NamedTuple):
    """A stretch of a text, in bytes, without its end."""

    start: int
    end: int


class LinearPattern:
    """A compiled pattern. `^` and `$` match at the ends of lines.

    Attributes:
        instructions: The size of the compiled pattern.
        ignore_case: Letters match in either case.
        required_literals: Texts within one line of which each match holds at least one; empty if none are known.
        literal: The bytes of each match, if the pattern is a text of one line, and case counts; None otherwise.
    """

    def __init__(
        self, pattern: str, *, is_literal: bool, ignore_case: bool, whole_words: bool, multiline: bool
    ) -> None:
        """Compiles a pattern in the syntax of RE2. Raises PatternError.

        Args:
            pattern: A regular expression, or any text.
            is_literal: The pattern is a text, and matches itself.
            ignore_case: Letters match in either case.
            whole_words: A match begins and ends at a border of a word, whose characters are `A-Za-z0-9_`.
            multiline: A match may hold line feeds.
        """
        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        options.max_mem = _CHECKED_BYTES
        options.case_sensitive = not ignore_case
        options.never_nl = not multiline
        expression = re2.escape(pattern) if is_literal else pattern
        if not is_literal:
            _check_parts(expression)
        try:
            # As it is: what is put around it could make it valid.
            _check_size(re2.compile(expression, options).programsize)
            options.max_mem = _MEMORY_BYTES
            bounded = rf"\b(?:{expression})\b" if whole_words else expression
            self._compiled = re2.compile(f"(?m){bounded}", options)
        except re2.error as error:
            raise PatternError(_message(error)) from error
        finally:
            re2.purge()  # the library would keep the last 128 patterns with their memory

        self.ignore_case = ignore_case
        self.required_literals: tuple[str, ...] = ()
        if not multiline:
            self.required_literals = (pattern,) if is_literal else required_literals(pattern)
        is_plain = is_literal and not (ignore_case or whole_words or multiline)
        self.literal = pattern.encode() if is_plain else None
        self.instructions: int = self._compiled.programsize
        _check_size(self.instructions)

    def search(self, content: memoryview, start: int, end: int) -> tuple[int, int] | None:
        """The first match, the longest to the left, that begins at `start` or later and ends at `end` or before."""
        match = self._compiled.search(content, start, end)
        if match is None:
            return None
        span: tuple[int, int] = match.span()
        return span


def _check_size(instructions: int) -> None:
    if instructions > MOST_INSTRUCTIONS:
        rule = f"it takes {instructions:,} instructions, at most {MOST_INSTRUCTIONS:,} are allowed"
        raise PatternError(f"{rule}; repeat less")


def _check_parts(expression: str) -> None:
    r"""Refuses what takes long to compile, and what depends on more than the lines that a match may be in.

    To RE2, the text begins and ends with the texts of all files, hidden ones included, and `\C` is any byte, also a
    line feed.
    """
    class_count = expression.count(r"\p") + expression.count(r"\P")
    if class_count > MOST_UNICODE_CLASSES:
        raise PatternError(f"it has {class_count} classes of Unicode, at most {MOST_UNICODE_CLASSES} are allowed")
    for part in _PART.finditer(expression):
        if part["escaped"] in ("A", "z"):
            raise PatternError(rf"\{part['escaped']} is not available; write ^ and $ for the ends of a line")
        if part["escaped"] == "C":
            raise PatternError(r"\C is not available, because a match has whole characters; write . instead")
        if "m" in (part["taken_away"] or ""):
            raise PatternError("^ and $ always match at the ends of each line; do not take the flag m away")


def _message(error: Exception) -> str:
    argument = error.args[0] if error.args else ""
    return argument.decode(errors="replace") if isinstance(argument, bytes) else str(argument)
