"""Functions compiled to machine code: loops over codes and vectors that no library has.

They run without the interpreter's lock, on the thread that calls them. Compiled once, they are kept beside the module
or, where that cannot be written, in the user's cache folder (`NUMBA_CACHE_DIR` names another). Where none of these can
be written, every process compiles them anew, which takes seconds. Arithmetic is as the source has it: nothing is
reordered or fused, so results have the same bits on every machine.
"""

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Compiled = TypeVar("Compiled", bound=Callable[..., Any])
_LOG = logging.getLogger(__name__)


def compiled(function: Compiled) -> Compiled:
    """The function, compiled when it is first called with arrays of some types."""
    try:
        return cast(Compiled, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError as error:
        # Numba says this of a file system that is read-only; what it compiles is the same without a cache.
        _LOG.warning("%s is compiled in every process: %s; let NUMBA_CACHE_DIR name a folder", function.__name__, error)
        return cast(Compiled, numba.njit(nogil=True)(function))
