"""Subjects of commits: their prose, and whether it is specific enough to be a question."""

import re

_FEWEST_WORDS, _MOST_WORDS = 4, 40

_TYPED = re.compile(r"(?P<type>[a-z]+)(?:\((?P<scope>[^()]*)\))?!?:\s", re.IGNORECASE)
_TYPES = frozenset("bug bugfix chore enhancement feat feature fix hotfix impr perf refactor security".split())
_TYPES_OF_NO_PRODUCT = frozenset("build ci deps doc docs release revert style test tests typo wip".split())
"""Types of Conventional Commits for changes that are not part of the product."""

_REFERENCE = r"(?:\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|refs?|see|issue|pr):? ?)?(?:#|\bGH-)\d+"
_ISSUES = re.compile(rf"[(\[]?{_REFERENCE}(?:,? (?:and |& )?{_REFERENCE})*[)\]]?", re.IGNORECASE)
_BEFORE = re.compile(r"(?:\[[^\[\]]*\]|:[a-z0-9_+-]+:|[^\w\"'`(<@./$\[{])+", re.IGNORECASE)
"""Tags, emoji (also as `:bug:`) and punctuation before the first word."""

_TOOLS = "biome|eslint|flake8|gofmt|golangci|isort|mypy|prettier|pylint|pyright|ruff|stylecop"
_TRIVIAL = re.compile(
    r"^(?:(?:bump|reappl|revert)\w*|wip|squash!|fixup!|amend!)(?:\W|$)"
    r"|^merge (?:branch|commit|main|master|pr|pull|remote|tag|upstream)\b"
    r"|^(?:prepar|start)\w* .*\b(?:release|version)\b"
    r"|^releas\w* .*(?:\d|\b(?:candidate|notes|version)\b)"
    r"|^(?:change|increase|increment|set|update) (?:the )?(?:\w+ )?version(?: number)?(?: (?:in|to)\b|$)"
    r"|^(?:version |v)\d"
    r"|^(?:downgrad|mov|switch|updat|upgrad)\w* (?:.* )?v?\d+(?:\.\d+)+"
    r"|^(?:downgrad|mov|switch|updat|upgrad)\w* (?:.* )?(?:from|to) (?:version )?v?\d"
    r"|^(?:downgrad|mov|switch|updat|upgrad)\w* to \S+ v?\d"
    r"|^(?:downgrad|pin|unpin|updat|upgrad)\w* .*"
    r"\b(?:dependency(?! injection)|dependencies|deps|libraries|lock ?files?|packages|requirements)\b"
    r"|\b(?:changelog|copyright|grammar|lint\w*|misspell\w*|readme|reformat\w*|spelling|trailing whitespace|typos?)\b"
    r"|\b(?:docs|docstrings?|documentation|tests?)\b"
    rf"|\b(?:{_TOOLS})\b"
    r"|^(?:auto-?)?format(?:ting)? (?:\w+ )?(?:changes|code|files?|sources?|updates|with)\b"
    r"|\bcode (?:clean-?up|format\w*|style)\b"
    r"|\b(?:code review|(?:pr|review) (?:comments?|feedback|suggestions?))\b"
)
"""Of a subject in lower case: versions, dependencies, spelling and format, documentation and tests, other commits."""


def question_of(subject: str) -> str:
    """The prose of a subject; empty if it is too short, or of a kind that names no place in code.

    Types and scopes as in `feat(cart):`, tags and signs before the first word, and numbers of issues are taken off.
    """
    text = " ".join(subject.split())
    typed = _TYPED.match(text)
    if typed:
        type_, scope = typed["type"].lower(), (typed["scope"] or "").lower()
        if type_ in _TYPES_OF_NO_PRODUCT or scope.startswith("deps"):
            return ""
        if type_ in _TYPES:
            text = text[typed.end() :]
    text = " ".join(_ISSUES.sub(" ", text).split())
    before = _BEFORE.match(text)
    text = text[before.end() if before else 0 :].rstrip(",;:/- ")
    words = sum(any(map(str.isalpha, word)) for word in text.split())
    return text if _FEWEST_WORDS <= words <= _MOST_WORDS and not _TRIVIAL.search(text.lower()) else ""
