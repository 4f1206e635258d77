"""The rules of steps, found in the code that raises their errors."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent.parent
_RAISERS: Final = {"StepError": 0, "broken": 0, "OneOf": 1, "at_least_one": 0, "BrokenReference": 1}
"""The functions that make errors, and the position of the rule among their arguments."""
_RULE_TABLES: Final = ("_RULES",)


def rules() -> dict[str, tuple[str, ...]]:
    """All rules in the built-in code, sorted, with the parts of the package that raise them."""
    found: dict[str, set[str]] = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        if "reference" in path.relative_to(_PACKAGE).parts:
            continue
        part = path.stem if path.parent.name == "actions" else path.parent.name
        for rule in _named(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(rule, set()).add(part)
    return {rule: tuple(sorted(found[rule])) for rule in sorted(found)}


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _RAISERS:
                yield from _texts(arguments[_RAISERS[name] : _RAISERS[name] + 1])
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple(elts=rows)) if name in _RULE_TABLES:
                for row in rows:
                    yield from _texts(row.elts[1:] if isinstance(row, ast.Tuple) else [])
            case _:
                pass


def _texts(arguments: list[ast.expr]) -> Iterator[str]:
    for argument in arguments:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value
