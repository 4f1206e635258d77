"""Finds texts on which a regular expression takes more than linear time, by the steps that its engine takes on them.

A backtracking engine takes polynomial time if a loop and a later loop read the same text, which also leads from one to
the other, and exponential time if one loop reads a text in two ways (Weber and Seidl, 1991). To search is a loop before
the expression. Such texts, repeated, are the attacks. What the loops do not know, such as anchors, assertions and
possessive quantifiers, counts when the attack is run.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from itertools import product

from support.backtracking import ExhaustedError, Program

_BEFORE = -1
"""The loop that searches."""
_COMMON = "aZ0_ \n.é\x00\u2028\U0001f600"
_FEW = 6
_TIMES = 40
_MOST = 2_000_000

Places = tuple[int, ...]
Moves = Callable[[Places], Iterator[tuple[str, Places]]]


def attack(pattern: re.Pattern[str] | re.Pattern[bytes], *, everywhere: bool, to_end: bool) -> str | None:
    """A text on which twice the length takes more than two and a half times the steps, or nothing if none is found.

    Args:
        pattern: The pattern.
        everywhere: Whether it is searched for, or matched at the start.
        to_end: Whether a match must reach the end.
    """
    program = Program(pattern, to_end=to_end)
    automaton = _Automaton(program, everywhere=everywhere)
    return next(filter(None, (_superlinear(automaton, *attack) for attack in automaton.attacks())), None)


class _Automaton:
    """The places at which an expression reads a character, and the places that may follow each."""

    def __init__(self, program: Program, *, everywhere: bool) -> None:
        self.cost = partial(program.cost, everywhere=everywhere, most=_MOST)
        # So often that what is linear, all parts of the expression at each character, does not hide what is not.
        self.times = max(_TIMES, 2 * program.longest, len(program.steps) // 2)
        self._program = program
        places = [place for place, step in enumerate(program.steps) if step.kind == "character"]
        self.letters = self._letters(places)
        self.ends = ("", *self.letters)
        self._reads = {
            place: frozenset(letter for letter in self.letters if program.steps[place].agrees(letter, 0))
            for place in places
        }
        self._next = {place: self._after(place + 1) for place in places}
        first = self._after(0)
        if everywhere:
            first[_BEFORE] = 1
            self._reads[_BEFORE], self._next[_BEFORE] = frozenset(self.letters), first
        self._first = first
        self._between = " \n" if any(step.kind == "place" for step in program.steps) else ""
        self._reached = {place: self._reachable(place) for place in self._reads}

    def attacks(self) -> list[tuple[str, str]]:
        """What an attack starts with and what it repeats, shortest first.

        An anchor may need a blank or a line's end between the repetitions.
        """
        loops = [place for place in self._reads if place in self._reached[place]]
        prefixes: dict[str, str] = {}
        for order in (self.letters, self.letters[::-1], sorted(self.letters, key=str.isalnum)):
            for first, second in product(loops, loops):
                # Each repetition may begin the expression, with or without something before it.
                for start in self._first if first == _BEFORE else (first,):
                    pump = self._pump(first, start, second, order)
                    for between in ("", *self._between) if pump is not None else ():
                        prefixes.setdefault(f"{pump}{between}", self._path(first, order))
        return sorted(((prefix, pump) for pump, prefix in prefixes.items()), key=lambda parts: (len(parts[1]), parts))

    def _pump(self, first: int, start: int, second: int, order: Sequence[str]) -> str | None:
        """What both loops read and what leads from the first to the second, or what one loop reads in two ways."""
        if first == second:
            around = self._around(first)
            moves = self._moves(order, (around, around))
            return _shortest([(first, first, 0)], (first, first, 1), lambda places: self._told_apart(places, moves))
        if second not in self._reached[first] or first in self._reached[second]:
            return None
        between = {place for place in self._reached[first] if place == second or second in self._reached[place]}
        moves = self._moves(order, (self._around(first), between, self._around(second)))
        return _shortest([(first, start, second)], (first, second, second), moves)

    def _path(self, place: int, order: Sequence[str]) -> str:
        if place in self._first:
            return ""
        path = _shortest([(first,) for first in self._first], (place,), self._moves(order, (self._reads.keys(),)))
        assert path is not None
        return path

    def _moves(self, order: Sequence[str], within: Sequence[Set[int]]) -> Moves:
        def moves(places: Places) -> Iterator[tuple[str, Places]]:
            read = frozenset.intersection(*(self._reads[place] for place in places))
            letter = next((letter for letter in order if letter in read), None)
            if letter is not None:
                kept = (self._next[place].keys() & inside for place, inside in zip(places, within, strict=True))
                yield from ((letter, after) for after in product(*map(sorted, kept)))

        return moves

    def _told_apart(self, places: Places, moves: Moves) -> Iterator[tuple[str, Places]]:
        """Moves of two readings of one loop, with 1 at the end once they have differed."""
        *pair, differed = places
        for letter, after in moves(tuple(pair)):
            twice = len(set(pair)) == len(set(after)) == 1 and self._next[pair[0]][after[0]] > 1
            yield letter, (*after, int(differed or len(set(after)) > 1 or twice))

    def _around(self, place: int) -> set[int]:
        return {other for other in self._reached[place] if place in self._reached[other]}

    def _reachable(self, place: int) -> set[int]:
        reached: set[int] = set()
        waiting = list(self._next[place])
        while waiting:
            other = waiting.pop()
            if other not in reached:
                reached.add(other)
                waiting += self._next[other]
        return reached

    def _after(self, step: int) -> Counter[int]:
        """The places that read next from a step on, and in how many ways each is got to, up to two."""
        way_counts: Counter[int] = Counter()
        waiting: list[Places] = [(step,)]
        while waiting:
            way = waiting.pop()
            kind, to, *_ = self._program.steps[way[-1]]
            if kind == "character":
                way_counts[way[-1]] += 1
                continue
            ahead: Places = (way[-1] + 1,)
            if kind in ("choice", "jump", "end"):
                ahead = to
            elif kind == "unless moved":
                ahead += to[1:]
            elif kind == "assertion":
                ahead += to
            waiting += ((*way, after) for after in ahead if way.count(after) == 0 and way_counts[after] < 2)
        return way_counts

    def _letters(self, places: Sequence[int]) -> str:
        """A character for each set of places that read the same, apart from lines, blanks and words."""
        text = str(self._program.source)
        letters: dict[tuple[bool, ...], str] = {}
        for letter in dict.fromkeys(_COMMON + text + "".join(chr(ord(character) + 1) for character in text)):
            reading = (self._program.steps[place].agrees(letter, 0) for place in places)
            letters.setdefault((letter == "\n", letter.isspace(), letter.isalnum(), *reading), letter)
        return "".join(letters.values())


def _superlinear(automaton: _Automaton, prefix: str, pump: str) -> str | None:
    """The attack in words, if it takes more than linear time."""
    try:
        few = [automaton.cost(prefix + _FEW * pump + end) for end in automaton.ends]
        suffix = automaton.ends[few.index(max(few))]
        first, second = (automaton.cost(prefix + count * _FEW * pump + suffix) for count in (2, 3))
        if first - max(few) == second - first:
            return None
        times = automaton.times
        short, long = (automaton.cost(prefix + count * pump + suffix) for count in (times, 2 * times))
    except ExhaustedError:
        return f"{prefix!r} + n * {pump!r}: more than {_MOST} steps"
    attack = f"{prefix!r} + n * {pump!r} + {suffix!r}: {short} steps for n = {times}, {long} for twice that"
    return attack if long > 2.5 * short else None


def _shortest(starts: Iterable[Places], goal: Places, moves: Moves) -> str | None:
    """The shortest text that leads from a start to a goal; it has one character at least."""
    words = dict.fromkeys(starts, "")
    waiting = list(words)
    for places in waiting:
        for letter, after in moves(places):
            if after == goal:
                return words[places] + letter
            if after not in words:
                words[after] = words[places] + letter
                waiting.append(after)
    return None
