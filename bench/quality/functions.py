"""Documented functions in Python sources."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

LEAST_WORDS = 4
LONGEST_SENTENCE = 300
LEAST_LINES = 3

_SENTENCE_END = re.compile(r"\.(?=\s|$)|\n\s*\n")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ABBREVIATIONS = ("e.g", "i.e", "etc", "vs", "cf")


@dataclass(frozen=True, slots=True)
class DocumentedFunction:
    """A function or method: its qualified name, its docstring's first sentence, and its source without docstring."""

    name: str
    sentence: str
    text: str
    start_line: int
    end_line: int


def documented_functions(source: str) -> Iterator[DocumentedFunction]:
    """The functions of a module and of its classes whose docstring has a first sentence of at least four words.

    Left out are functions within functions, and those of fewer than three lines without their docstring. Raises
    SyntaxError and ValueError when the source is not Python.
    """
    lines = source.splitlines()
    for name, node in _functions(ast.parse(source), ""):
        sentence = first_sentence(ast.get_docstring(node) or "")
        text = _without_docstring(node, lines)
        if len(sentence.split()) >= LEAST_WORDS and text.count("\n") + 1 >= LEAST_LINES:
            yield DocumentedFunction(name, sentence, text, node.lineno, node.end_lineno or node.lineno)


def first_sentence(docstring: str) -> str:
    """The text before the first full stop or blank line, on one line.

    Empty if that is too long for a sentence, or is a field (`:param name: ...`).
    """
    end = len(docstring)
    for match in _SENTENCE_END.finditer(docstring):
        if not docstring[: match.start()].endswith(_ABBREVIATIONS):
            end = match.start()
            break
    sentence = " ".join(docstring[:end].split())
    return "" if sentence.startswith(":") or len(sentence) > LONGEST_SENTENCE else sentence


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield prefix + child.name, child
        else:
            yield from _functions(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)


def _without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> str:
    """The lines of a function without its docstring, dedented."""
    docstring = node.body[0]
    kept = [*lines[node.lineno - 1 : docstring.lineno - 1], *lines[docstring.end_lineno : node.end_lineno]]
    indent = node.col_offset
    return "\n".join(line[indent:] if line[:indent].isspace() else line for line in kept).rstrip()
