"""Variables say what they hold: names that fit anything are not used for them."""

import ast
from pathlib import Path

from project.tools import ROOT

EMPTY_NAMES = frozenset({"found", "own", "one", "told", "asked"})
FOLDERS = ("protos", "server", "client", "pipelines", "bench", "examples", "deploy", "docs", "tests")


def variables(source: str) -> set[tuple[str, int]]:
    """The names of variables and parameters with their lines."""
    tree = list(ast.walk(ast.parse(source)))
    names = {(node.id, node.lineno) for node in tree if isinstance(node, ast.Name)}
    return names | {(node.arg, node.lineno) for node in tree if isinstance(node, ast.arg)}


def product_files() -> list[Path]:
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return [path for path in paths if not path.stem.endswith(("_pb2", "_pb2_grpc"))]


def test_no_variable_has_a_name_that_fits_anything() -> None:
    assert [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in product_files()
        for name, line in sorted(variables(path.read_text(encoding="utf-8")))
        if name in EMPTY_NAMES
    ] == []


def test_several_modules_are_not_called_after_their_role_alone() -> None:
    roles = {"reader.py", "names.py", "values.py", "utils.py", "helpers.py", "common.py"}
    assert [str(path.relative_to(ROOT)) for path in product_files() if path.name in roles] == []
