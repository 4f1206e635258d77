"""Runs a regular expression of Python step by step, as its engine does, and counts the steps.

The engine of `re` tells nothing of its work, and seconds differ between machines.
"""

import functools
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

# Private to Python and in no type stub, and unchanged in form since 3.11, which made it part of `re`.
_parser: Any = import_module("re._parser")
_compiler: Any = import_module("re._compiler")

_ENDLESS = 1000
"""A repetition that is allowed more often counts as one without a limit."""
_NEVER = -1

Registers = tuple[int, ...]


class Step(NamedTuple):
    """One instruction, and where it may lead besides the next one."""

    kind: str
    to: tuple[int, ...] = ()
    agrees: Callable[[str, int], bool] = lambda _text, _at: True
    width: int = 0
    wanted: bool = True


class ExhaustedError(Exception):
    """The run took more steps than it was given."""


class Program:
    """The steps of a regular expression.

    Args:
        pattern: The pattern; one of bytes runs on texts with a character for each byte.
        to_end: Whether a match must reach the end of the text, as with `fullmatch`.

    Attributes:
        source: The pattern as text.
        steps: The instructions; the first is where a match starts.
        longest: The highest limit of a repetition that has a limit.
    """

    def __init__(self, pattern: re.Pattern[str] | re.Pattern[bytes], *, to_end: bool) -> None:
        source, flags = pattern.pattern, pattern.flags & ~re.UNICODE
        if isinstance(source, bytes):
            source, flags = source.decode("latin-1"), flags | re.ASCII
        parsed = _parser.parse(source, flags)
        self.source = source
        self.steps: list[Step] = []
        self.longest = 1
        self._state = parsed.state
        self._registers = 2 * self._state.groups
        self._add_all(parsed, self._state.flags)
        if to_end:
            self._add(_parser.AT, _parser.AT_END_STRING, 0)
        self.steps.append(Step("end"))

    def cost(self, text: str, *, everywhere: bool, most: int) -> int:
        """The steps that a match at the start takes, or the search for all matches.

        Raises:
            ExhaustedError: It takes more than `most`.
        """
        self._left = most
        at = 0
        while at <= len(text):
            first_match = self._run(0, text, at, (_NEVER,) * self._registers)
            if not everywhere:
                break
            at = max(first_match[0], at + 1) if first_match else at + 1
        return most - self._left

    def _run(self, step: int, text: str, at: int, registers: Registers) -> tuple[int, Registers] | None:  # noqa: C901 - one branch a kind of step
        untried: list[tuple[int, int, Registers]] = []
        while True:
            self._left -= 1
            if self._left < 0:
                raise ExhaustedError
            kind, to, agrees, width, wanted = self.steps[step]
            step += 1
            going = True
            if kind == "character":
                going = at < len(text) and agrees(text, at)
                at += 1
            elif kind == "place":
                going = agrees(text, at)
            elif kind == "choice":
                step = to[0]
                untried.append((to[1], at, registers))
            elif kind == "jump":
                step = to[0]
            elif kind == "register":
                registers = (*registers[: to[0]], at, *registers[to[0] + 1 :])
            elif kind == "unless moved":
                step = to[1] if registers[to[0]] == at else step
            elif kind == "again":
                again = text[registers[to[0]] : registers[to[0] + 1]]
                going = text.startswith(again, at)
                at += len(again)
            elif kind == "end":
                return at, registers
            else:
                inner = self._run(step, text, at - width, registers) if at >= width else None
                going = (inner is not None) == wanted
                step = to[0]
                if kind == "atomic" and inner:
                    at, registers = inner
            if not going:
                if not untried:
                    return None
                step, at, registers = untried.pop()

    def _add_all(self, nodes: Iterable[tuple[Any, Any]], flags: int) -> None:
        for kind, value in nodes:
            self._add(kind, value, flags)

    def _add(self, kind: Any, value: Any, flags: int) -> None:
        match str(kind):
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                self.steps.append(Step("character", (), self._single(kind, value, flags)))
            case "AT":
                self.steps.append(Step("place", (), self._single(kind, value, flags)))
            case "BRANCH":
                self._add_choice([functools.partial(self._add_all, part, flags) for part in value[1]])
            case "SUBPATTERN":
                self._add_group(*value, flags=flags)
            case "MAX_REPEAT" | "MIN_REPEAT":
                self._add_repeat(*value, flags=flags, lazy=str(kind) == "MIN_REPEAT")
            case "POSSESSIVE_REPEAT":
                self._add_part("atomic", lambda: self._add_repeat(*value, flags=flags, lazy=False))
            case "ATOMIC_GROUP":
                self._add_part("atomic", lambda: self._add_all(value, flags))
            case "ASSERT" | "ASSERT_NOT":
                direction, parts = value
                width = parts.getwidth()[0] if direction < 0 else 0
                wanted = str(kind) == "ASSERT"
                self._add_part("assertion", lambda: self._add_all(parts, flags), width, wanted=wanted)
            case "GROUPREF":
                self.steps.append(Step("again", (2 * value,)))
            case other:
                raise NotImplementedError(other)

    def _add_group(self, group: int | None, added: int, removed: int, parts: Any, *, flags: int) -> None:
        if group is not None:
            self.steps.append(Step("register", (2 * group,)))
        self._add_all(parts, (flags | added) & ~removed)
        if group is not None:
            self.steps.append(Step("register", (2 * group + 1,)))

    def _add_choice(self, ways: list[Callable[[], None]]) -> None:
        """Adds ways, of which the first that leads to a match is taken."""
        jumps: list[int] = []
        for way in ways[:-1]:
            choice = self._reserve()
            way()
            jumps.append(self._reserve())
            self.steps[choice] = Step("choice", (choice + 1, len(self.steps)))
        ways[-1]()
        for jump in jumps:
            self.steps[jump] = Step("jump", (len(self.steps),))

    def _add_repeat(self, least: int, most: Any, parts: Any, *, flags: int, lazy: bool) -> None:
        for _ in range(least):
            self._add_all(parts, flags)
        choices: list[int] = []
        if most > _ENDLESS:
            guard, self._registers = self._registers, self._registers + 1
            choices.append(self._reserve())
            self.steps.append(Step("register", (guard,)))
            self._add_all(parts, flags)
            self.steps.append(Step("unless moved", (guard, len(self.steps) + 2)))
            self.steps.append(Step("jump", (choices[0],)))
        else:
            self.longest = max(self.longest, most)
            for _ in range(most - least):
                choices.append(self._reserve())
                self._add_all(parts, flags)
        for choice in choices:
            ways = (choice + 1, len(self.steps))
            self.steps[choice] = Step("choice", ways[::-1] if lazy else ways)

    def _add_part(self, kind: str, add: Callable[[], None], width: int = 0, *, wanted: bool = True) -> None:
        start = self._reserve()
        add()
        self.steps.append(Step("end", (len(self.steps) + 1,) if kind == "atomic" else ()))
        self.steps[start] = Step(kind, (len(self.steps),), width=width, wanted=wanted)

    def _reserve(self) -> int:
        self.steps.append(Step("reserved"))
        return len(self.steps) - 1

    def _single(self, kind: Any, value: Any, flags: int) -> Callable[[str, int], bool]:
        """What the engine itself says of one character, or of a place in the text."""
        single = _compiler.compile(_parser.SubPattern(self._state, [(kind, value)]), flags)
        if str(kind) == "AT":
            return lambda text, at: single.match(text, at) is not None
        agrees = functools.cache(lambda character: single.match(character) is not None)
        return lambda text, at: agrees(text[at])
