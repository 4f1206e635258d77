"""Functions compiled to machine code by numba: loops over codes and vectors that no library has.

They run on the calling thread without the interpreter's lock. Compiled code is cached beside the module or, if that
folder is read-only, in the user's cache folder (`NUMBA_CACHE_DIR` names another). If none of these can be written,
every process compiles anew, which takes seconds. Floating-point operations are neither reordered nor fused, so results
have the same bits on every machine.
"""

import logging
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Compiled = TypeVar("Compiled", bound=Callable[..., Any])
_LOG = logging.getLogger(__name__)


def compiled(function: Compiled) -> Compiled:
    """The function, compiled at the first call with arguments of given types."""
    try:
        return cast(Compiled, numba.njit(nogil=True, cache=True)(function))
    except RuntimeError as error:
        # Numba raises this on a read-only file system; without a cache it compiles the same code.
        _LOG.warning("%s is compiled in every process: %s; let NUMBA_CACHE_DIR name a folder", function.__name__, error)
        return cast(Compiled, numba.njit(nogil=True)(function))
