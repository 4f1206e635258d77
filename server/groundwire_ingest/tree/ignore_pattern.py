"""One line of a .gitignore as git reads it (dir.c and wildmatch.c), matched without backtracking.

Patterns are untrusted input. With backtracking, a line of many stars would take time exponential in their number. Here
the text between two stars is matched only at the first place where it fits (atomic groups). That is enough for
wildcards: it finds a match whenever there is one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, hexdigits, punctuation
from typing import Final, TypeAlias

_Token: TypeAlias = bytes | None
"""The expression of one byte of a path, or None for a star."""

_SPECIAL: Final = re.compile(rb"[*?\[\\]")
_ANY_BYTE: Final = b"[^/]"
_SLASH: Final = b"/"
_ALL: Final = frozenset(range(256))
_NAMED_CLASSES: Final = {
    name.encode(): frozenset(members.encode())
    for name, members in {
        "alnum": ascii_letters + digits,
        "alpha": ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, (*range(32), 127))),
        "digit": digits,
        "graph": ascii_letters + digits + punctuation,
        "lower": ascii_lowercase,
        "print": ascii_letters + digits + punctuation + " ",
        "punct": punctuation,
        "space": " \t\n\v\f\r",
        "upper": ascii_uppercase,
        "xdigit": hexdigits,
    }.items()
}


MOST_JOINED_PATTERNS = 1_000
"""Joined patterns are compiled once more. A .gitignore has some hundred at most, unless it is hostile."""


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """A pattern over paths as bytes, relative to the folder of its .gitignore.

    `includes`: the line starts with `!`. `folders_only`: it ends with a slash. `of_names`: it has no other slash and is
    compared with the last part of a path alone.
    """

    includes: bool
    folders_only: bool
    of_names: bool
    expression: re.Pattern[bytes]

    def matches(self, path: bytes, is_folder: bool) -> bool:
        """True if it matches `path`, which has no slash at its end."""
        if self.folders_only and not is_folder:
            return False
        return self.expression.fullmatch(path, path.rfind(b"/") + 1 if self.of_names else 0) is not None


@dataclass(frozen=True, slots=True)
class AnyPattern:
    """All patterns of a .gitignore at once: those of names, and those of whole paths; None where there are none."""

    of_names: re.Pattern[bytes] | None
    of_paths: re.Pattern[bytes] | None

    @classmethod
    def of(cls, patterns: Sequence[IgnorePattern]) -> "AnyPattern | None":
        """Those patterns together; None for more than MOST_JOINED_PATTERNS."""
        if len(patterns) > MOST_JOINED_PATTERNS:
            return None
        return cls(
            _alternatives([pattern.expression.pattern for pattern in patterns if pattern.of_names]),
            _alternatives([pattern.expression.pattern for pattern in patterns if not pattern.of_names]),
        )

    def may_match(self, path: bytes) -> bool:
        """False if no pattern matches `path`, whether it is a folder's or a file's."""
        if self.of_names is not None and self.of_names.fullmatch(path, path.rfind(b"/") + 1):
            return True
        return self.of_paths is not None and self.of_paths.fullmatch(path) is not None


def _alternatives(expressions: Sequence[bytes]) -> re.Pattern[bytes] | None:
    return re.compile(b"|".join(expressions), re.DOTALL) if expressions else None


def ignore_pattern(line: bytes) -> IgnorePattern | None:
    """The pattern of a line without its line end; None for a blank line and a comment.

    Raises ValueError for a line that git ignores as well: a `!` or a backslash before nothing, a bracket that is not
    closed, a character class that POSIX does not define.
    """
    text = _without_trailing_spaces(line)
    if not text or text.startswith(b"#"):
        return None
    includes = text.startswith(b"!")
    text = text.removeprefix(b"!")
    if not text:
        raise ValueError("nothing follows the `!`")
    folders_only = text.endswith(_SLASH)
    text = text.removesuffix(_SLASH)
    of_names = _SLASH not in text
    expression = _segment(_tokens(text)) if of_names else _path(text.removeprefix(_SLASH))
    return IgnorePattern(includes, folders_only, of_names, re.compile(expression, re.DOTALL))


def _without_trailing_spaces(line: bytes) -> bytes:
    """The line without trailing spaces, except one that a backslash escapes."""
    kept = line.rstrip(b" ")
    backslashes = len(kept) - len(kept.rstrip(b"\\"))
    return line[: len(kept) + 1] if backslashes % 2 else kept


def _path(pattern: bytes) -> bytes:
    """The expression of a pattern of whole paths. `**` between slashes is any number of folders, at the end everything.

    git compares the text before the first wildcard literally and parses the rest by itself: `a**/b` is `a` and `**/b`.
    """
    special = _SPECIAL.search(pattern)
    start = special.start() if special else len(pattern)
    first, *others = _blocks(_split(_tokens(pattern[start:]), _SLASH))
    expression = [re.escape(pattern[:start]), *(part + _SLASH for part in first[:-1]), *first[-1:]]
    if others and first:
        expression.append(_SLASH)
    for number, block in enumerate(others, 1):
        below = b"(?:[^/]*/)*?" + _SLASH.join(block)
        if number < len(others):
            expression.append(b"(?>" + below + b"/)" if block else b"")
        else:
            expression.append(below if block else b".*")
    return b"".join(expression)


def _blocks(segments: Iterable[Sequence[_Token]]) -> list[list[bytes]]:
    """The expressions of adjacent segments, from one `**` to the next."""
    blocks: list[list[bytes]] = [[]]
    for segment in segments:
        if len(segment) > 1 and not any(segment):
            blocks.append([])
        else:
            blocks[-1].append(_segment(segment))
    return blocks


def _segment(tokens: Sequence[_Token]) -> bytes:
    """The expression of one segment, whose stars match no slash."""
    first, *others = (b"".join(token for token in part if token) for part in _split(tokens, None))
    if not others:
        return first
    middle = (b"(?>[^/]*?" + part + b")" for part in others[:-1] if part)
    return b"(?>" + first + b"".join(middle) + b"[^/]*" + others[-1] + rb"(?=/|\Z))"


def _split(tokens: Iterable[_Token], separator: _Token) -> list[list[_Token]]:
    parts: list[list[_Token]] = [[]]
    for token in tokens:
        if token == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _tokens(pattern: bytes) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(pattern):
        byte = pattern[at : at + 1]
        at += 1
        if byte == b"*":
            tokens.append(None)
        elif byte == b"?":
            tokens.append(_ANY_BYTE)
        elif byte == b"[":
            members, at = _bracket(pattern, at)
            tokens.append(_one_of(members))
        elif byte == b"\\":
            escaped = re.escape(_escaped(pattern, at))
            if escaped == _SLASH and _end_in_any_folders(tokens):
                tokens += (_SLASH, None)  # only before a slash without a backslash may `**` match no folder
            tokens.append(escaped)
            at += 1
        else:
            tokens.append(re.escape(byte))
    return tokens


def _end_in_any_folders(tokens: Sequence[_Token]) -> bool:
    """True if two or more stars, and nothing else, follow the last slash."""
    stars = 0
    while stars < len(tokens) and tokens[-1 - stars] is None:
        stars += 1
    return stars > 1 and (stars == len(tokens) or tokens[-1 - stars] == _SLASH)


def _bracket(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """The bytes that a bracket expression matches whose content starts at `at`, and where it ends."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    members: set[int] = set()
    previous: int | None = None
    is_first = True
    while is_first or pattern[at : at + 1] != b"]":
        is_first = False
        name = _class_name(pattern, at)
        if name is not None:
            if name not in _NAMED_CLASSES:
                raise ValueError("a class that POSIX does not name")
            members |= _NAMED_CLASSES[name]
            previous, at = None, at + len(name) + 4
        elif pattern[at : at + 1] == b"-" and previous is not None and pattern[at + 1 : at + 2] not in (b"", b"]"):
            end, at = _member(pattern, at + 1)
            members.update(range(previous, end + 1))
            previous = None
        else:
            previous, at = _member(pattern, at)
            members.add(previous)
    return (_ALL - members if negated else frozenset(members)), at + 1


def _class_name(pattern: bytes, at: int) -> bytes | None:
    """`alpha` for `[:alpha:]`."""
    if not pattern.startswith(b"[:", at):
        return None
    end = pattern.find(b"]", at + 2)
    if end < 0:
        raise ValueError("nothing closes the bracket")
    # Of `[:]` the colon is one, not two.
    return pattern[at + 2 : end - 1] if end > at + 2 and pattern[end - 1 : end] == b":" else None


def _member(pattern: bytes, at: int) -> tuple[int, int]:
    if at >= len(pattern):
        raise ValueError("nothing closes the bracket")
    if pattern[at] != ord("\\"):
        return pattern[at], at + 1
    return _escaped(pattern, at + 1)[0], at + 2


def _escaped(pattern: bytes, at: int) -> bytes:
    if at >= len(pattern):
        raise ValueError("nothing follows the backslash")
    return pattern[at : at + 1]


def _one_of(members: frozenset[int]) -> bytes:
    """The expression of any of these bytes but the slash, which no wildcard matches."""
    allowed = members - {ord("/")}
    starts = (byte for byte in sorted(allowed) if byte - 1 not in allowed)
    ends = (byte for byte in sorted(allowed) if byte + 1 not in allowed)
    ranges = b"".join(b"\\x%02x-\\x%02x" % pair for pair in zip(starts, ends, strict=True))
    return b"[" + ranges + b"]" if ranges else b"(?!)"
