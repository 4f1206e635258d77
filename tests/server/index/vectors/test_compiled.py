"""Compiled loops where what was compiled can and cannot be kept."""

import logging
from collections.abc import Callable
from unittest.mock import patch

import numba
import pytest

from groundwire_index.vectors.compiled import compiled


def double(number: int) -> int:
    return 2 * number


def test_a_function_is_compiled_without_a_cache_where_none_can_be_written(caplog: pytest.LogCaptureFixture) -> None:
    compile_ = numba.njit

    def on_a_read_only_file_system(*, nogil: bool, cache: bool = False) -> Callable[[Callable[[int], int]], object]:
        if cache:
            raise RuntimeError("cannot cache function 'double': no locator available")
        return compile_(nogil=nogil)

    with patch("numba.njit", on_a_read_only_file_system), caplog.at_level(logging.WARNING):
        function = compiled(double)
    assert function(21) == 42
    assert "double is compiled in every process" in caplog.text
    assert "NUMBA_CACHE_DIR" in caplog.text
