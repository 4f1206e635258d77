"""How threads share the processor and the interpreter. Imports nothing that could start threads of its own."""

import os
import sys

_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "RAYON_NUM_THREADS",  # of Hugging Face tokenizers
)

_SWITCH_SECONDS = 0.0005


def bound_native_threads() -> None:
    """Gives native code one thread a call, unless the environment says otherwise. Call before importing numpy.

    Workers already use the processors in parallel; native pools on top of them only contend. The
    libraries read these variables once, when they are loaded, and setting a count later reaches the calling thread
    alone.
    """
    for variable in _VARIABLES:
        os.environ.setdefault(variable, "1")


def keep_event_loop_prompt() -> None:
    """Lets the event loop have the interpreter within half a millisecond for each thread that is at work.

    It asks for it again after every wait for the network, several times a call. With Python's own 5 ms and three
    computing threads, 60 to 80 calls a second were answered, health checks included. With this value it is 220 to 250,
    for about a tenth of the work.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
