"""Tests of rows: what decides a row by that row alone, asked of all rows at once or of some."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Selection: TypeAlias = NDArray[np.integer] | slice
"""Row numbers [m], or a slice of all rows."""
RowTest: TypeAlias = Callable[[Selection], NDArray[np.bool_]]
"""For each selected row, in their order, whether it holds."""

EVERY_ROW = slice(None)
