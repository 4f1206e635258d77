"""The rules that steps fail by, read off the code that raises them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent.parent
_RAISERS: Final = {"StepError": 0, "broken": 0, "OneOf": 1, "at_least_one": 0, "BrokenReference": 1}
"""What makes an error of a rule, and which of its arguments is the rule."""
_RULE_TABLES: Final = ("_RULES",)


def rules() -> dict[str, tuple[str, ...]]:
    """Every rule that the built-in code names, sorted, with the parts of the package that it belongs to."""
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
