"""Bounds the threads of native libraries. Imports nothing that could start them."""

import os

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",  # of Hugging Face tokenizers
)


def bound_native_threads() -> None:
    """Gives native code one thread a call, unless the environment says otherwise. Call before importing numpy.

    The server already runs as many calls side by side as it has threads for them, in each of its workers; native
    pools on top of them only contend. The libraries read these variables once, when they are loaded, and setting a
    count later reaches the calling thread alone.
    """
    for variable in _VARIABLES:
        os.environ.setdefault(variable, "1")
