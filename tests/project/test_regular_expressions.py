"""Regular expressions take linear time, as what they read is others': source texts, names, routes and requests."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from project.tools import ROOT
from support.attacks import attack

READ_AT_ONE_PLACE = {"match": False, "fullmatch": True}
"""Functions that read at one place, and whether they must reach the end."""
SEARCHES = {"findall", "finditer", "search", "split", "sub", "subn"}
FUNCTIONS = {*READ_AT_ONE_PLACE, *SEARCHES}
COMPILING = {*FUNCTIONS, "compile", "template"}
ANY_USE = {(True, False), (False, True)}
BUILT_WHILE_RUNNING = {
    "markup/elements.py",  # of a tag's name, escaped
    "tree/ignore_pattern.py",  # of lines of ignore files, which a test of their own attacks
}


class Compiled(NamedTuple):
    """A regular expression and its place in the code."""

    path: str
    line: int
    pattern: re.Pattern[str] | re.Pattern[bytes]

    def __str__(self) -> str:
        return f"{'/'.join(Path(self.path).parts[-2:])}:{self.line}: {self.pattern.pattern!r}"


@pytest.fixture(scope="module")
def compiled() -> tuple[list[str], list[Compiled]]:
    """The folders of the packages, and all regular expressions in them."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "tests"), *sys.path))}
    program = [sys.executable, "-m", "support.compiled_patterns"]
    printed = json.loads(subprocess.run(program, env=environment, stdout=subprocess.PIPE, check=True).stdout)
    while_running = [
        Compiled(path, line, re.compile(text.encode("latin-1") if is_bytes else text, flags))
        for path, line, text, is_bytes, flags in printed["compiled"]
    ]
    return printed["folders"], while_running + [
        expression for path in _files(printed["folders"]) for expression in _written_in_calls(path)
    ]


@pytest.mark.slow
def test_regular_expressions_take_linear_time(compiled: tuple[list[str], list[Compiled]]) -> None:
    attacks = [
        f"{expression}\n    {text}"
        for expression in compiled[1]
        for everywhere, to_end in sorted(_uses(expression))
        if (text := attack(expression.pattern, everywhere=everywhere, to_end=to_end))
    ]
    assert not attacks, "\n".join(attacks)


def test_every_regular_expression_is_found(compiled: tuple[list[str], list[Compiled]]) -> None:
    places = {(expression.path, expression.line) for expression in compiled[1]}
    missing = [
        f"{path}:{call.lineno}"
        for path in _files(compiled[0])
        for call in _calls(path)
        if (path, call.lineno) not in places and not path.endswith(tuple(BUILT_WHILE_RUNNING))
    ]
    assert len(places) > 250
    assert not missing


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (rb"(?m)^#if[^\n]*\n((?:[ \t]*(?:extern|\{|\})?[ \t]*(?:/[/*][^\n]*)?\r?\n)+)[ \t]*#", "sub"),
        (r"[A-Za-z][\w-]*(?:(?::|\.|__)[A-Za-z][\w-]*){1,7}", "fullmatch"),
        (r"\{(\*{0,2})(\w+)[^{}]*\}", "sub"),
        (r"\s*\S+", "findall"),
        (r"/\*.*?\*/|.", "finditer"),
        (r"\bISNULL\s*\(.*,", "search"),
        (r"a.*foo.*bar", "match"),
        (r"\bcode generated\b[^\n]*\bdo not edit", "search"),
        (r"(?m)^begin\n[^z]*z", "search"),
        (r"(?:a(?!.*b))*", "match"),
        (r"(a*)*b", "match"),
    ],
)
def test_what_takes_more_than_linear_time_is_found(pattern: str | bytes, use: str) -> None:
    assert attack(re.compile(pattern), everywhere=use in SEARCHES, to_end=READ_AT_ONE_PLACE.get(use, False))


@pytest.mark.parametrize(
    "pattern", [r"\s++", r"(?<!\w)\w++\(", r'"[^"]*"', r"(?m)^[ \t]*x", r"[a-z]{1,60}x", r"(?:(?<!\s)\s++)?[,;]\s*+"]
)
def test_what_takes_linear_time_passes(pattern: str) -> None:
    assert attack(re.compile(pattern), everywhere=True, to_end=False) is None


def _uses(expression: Compiled) -> set[tuple[bool, bool]]:
    """Whether it is searched for or read at one place, and whether that must reach the end.

    A place that is given as an argument is one place: what reads on from there is the module's matter.
    """
    nodes = list(ast.walk(_tree(expression.path)))
    name = next((name for line, name in _named(expression.path) if line == expression.line), "")
    if name and not name.startswith("_"):
        return ANY_USE  # other modules use it as well
    used = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS]
    functions = {node.attr for node in used if name and ast.unparse(node.value) == name}
    receivers = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    if not name or any(_is_read(node, name) and id(node) not in receivers for node in nodes):
        # It is an attribute, an item or an argument, and used by another name.
        others = {"re", *(name for _, name in _named(expression.path))}
        functions |= {node.attr for node in used if ast.unparse(node.value) not in others}
    return {(function in SEARCHES, READ_AT_ONE_PLACE.get(function, False)) for function in functions} or ANY_USE


def _is_read(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id == name


@cache
def _named(path: str) -> list[tuple[int, str]]:
    """The lines and names of the expressions that a module assigns as they are."""
    assigned = [statement for statement in _tree(path).body if isinstance(statement, ast.Assign | ast.AnnAssign)]
    return [
        (
            statement.value.lineno,
            ast.unparse(statement.targets[0] if isinstance(statement, ast.Assign) else statement.target),
        )
        for statement in assigned
        if isinstance(statement.value, ast.Call) and ast.unparse(statement.value.func) == "re.compile"
    ]


@cache
def _calls(path: str) -> list[ast.Call]:
    """Calls of functions of `re` that compile an expression."""
    calls = []
    for node in ast.walk(_tree(path)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr=name)) if name in COMPILING:
                calls.append(node)
    return calls


def _written_in_calls(path: str) -> Iterator[Compiled]:
    """The expressions of calls such as `re.sub`, which are compiled when they are used first."""
    for call in _calls(path):
        match call.args[0]:
            case ast.Constant(value=str(written)) if ast.unparse(call.func) != "re.compile":
                yield Compiled(path, call.lineno, re.compile(written))


def _files(folders: list[str]) -> list[str]:
    return [str(path) for folder in folders for path in sorted(Path(folder).rglob("*.py"))]


@cache
def _tree(path: str) -> ast.Module:
    return ast.parse(Path(path).read_text(encoding="utf-8"))
