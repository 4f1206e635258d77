"""Every linter and type checker, as part of the test run. All work offline; the type checkers take a minute or more."""

import sys

import pytest

from project.tools import run_tool


def test_ruff_finds_nothing() -> None:
    run_tool("ruff", "check", ".")


def test_code_is_formatted() -> None:
    run_tool("ruff", "format", "--check", ".")


@pytest.mark.slow
def test_mypy_finds_nothing() -> None:
    run_tool("mypy")


@pytest.mark.slow
def test_pyright_finds_nothing() -> None:
    run_tool("pyright", "--pythonpath", sys.executable)


def test_imports_keep_the_layers() -> None:
    run_tool("lint-imports", "--no-cache")


def test_protos_keep_the_rules_of_buf() -> None:
    run_tool("buf", "lint")


def test_the_dockerfile_is_as_hadolint_wants_it() -> None:
    run_tool("hadolint", "Dockerfile")
