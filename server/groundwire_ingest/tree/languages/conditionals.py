"""Code for several compilations, whose branches do not hold whole statements: one of them is left to the parser."""

import re
from dataclasses import dataclass, field

_DIRECTIVE = re.compile(rb"[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b([^\r\n]*)")
# Brackets in these open and close nothing.
_NO_CODE = re.compile(rb"""//.*|/\*.*?(?:\*/|$)|"(?:[^"\\\n]|\\.)*+"?|'(?:[^'\\\n]|\\.)*+'?""")
_BRACKETS = {ord("{"): 1, ord("}"): -1, ord("("): 1, ord(")"): -1}
_TEXT = re.compile(rb"[^\r\n]")
MAX_LINE_BYTES = 2000
"""A longer line is data, whose brackets are not counted."""
MAX_NESTED = 100
"""Conditions nested deeper than this are left as they are."""


@dataclass(slots=True)
class _Branch:
    """The lines of one branch: `line` is that of its directive, `balance` how many more brackets it opens than closes.

    `is_never` is the branch of `#if 0`.
    """

    line: int
    is_never: bool
    balance: int = 0
    is_blank: bool = True
    is_uneven: bool = False


@dataclass(slots=True)
class _Condition:
    branches: list[_Branch] = field(default_factory=list)

    @property
    def kept(self) -> _Branch | None:
        """The first branch with code that some compilation has."""
        return next((branch for branch in self.branches if not branch.is_blank and not branch.is_never), None)


def one_branch(source: bytes) -> bytes:
    """The source with blanks for all but one branch of each condition whose branches leave brackets open or close more.

    `#ifdef A`, `if (x) {`, `#else`, `if (y) {`, `#endif` open one block, which a parser would take for two. Conditions
    with whole statements in all of their branches stay as they are.
    """
    lines = source.splitlines(keepends=True)
    blank: set[int] = set()
    open_conditions: list[_Condition] = []
    for number, line in enumerate(lines):
        match = _DIRECTIVE.match(line)
        if match is None:
            if open_conditions:
                _count(open_conditions[-1].branches[-1], line)
        elif match[1].startswith(b"if"):
            open_conditions.append(_Condition([_Branch(number, match[1] == b"if" and match[2].strip() == b"0")]))
            if len(open_conditions) > MAX_NESTED:
                return source
        elif open_conditions and match[1] != b"endif":
            open_conditions[-1].branches.append(_Branch(number, False))
        elif open_conditions:
            condition = open_conditions.pop()
            _close(condition, number, blank)
            if open_conditions:
                _add(open_conditions[-1].branches[-1], condition)
    return b"".join(_TEXT.sub(b" ", line) if number in blank else line for number, line in enumerate(lines))


def _count(branch: _Branch, line: bytes) -> None:
    """Counts the brackets of a line; a branch that closes what it did not open is uneven even if it opens as many."""
    branch.is_blank = branch.is_blank and not line.strip()
    for byte in _NO_CODE.sub(b"", line) if len(line) <= MAX_LINE_BYTES else b"":
        branch.balance += _BRACKETS.get(byte, 0)
        branch.is_uneven = branch.is_uneven or branch.balance < 0


def _close(condition: _Condition, end: int, blank: set[int]) -> None:
    """Notes the lines to blank of a condition that ends at a line."""
    if not any(branch.balance or branch.is_uneven for branch in condition.branches):
        return
    ends = [*(branch.line for branch in condition.branches[1:]), end]
    for branch, after in zip(condition.branches, ends, strict=True):
        blank.update(range(branch.line, branch.line + 1 if branch is condition.kept else after))
    blank.add(end)


def _add(branch: _Branch, condition: _Condition) -> None:
    """Adds the brackets of the branch of an inner condition that is left to those of the branch around it."""
    kept = condition.kept
    if kept is not None:
        branch.is_blank = False
        branch.balance += kept.balance
        branch.is_uneven = branch.is_uneven or branch.balance < 0
