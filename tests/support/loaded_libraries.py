"""Loads what the program needs to build and to serve an index, and starts no thread, so that it can be forked then."""

import gc
import os
from importlib import import_module

from groundwire_server.rpc.serving.threads import bound_native_threads

bound_native_threads()  # before the numeric libraries are loaded, as `groundwire serve` does
os.environ["PYTHON_DOTENV_DISABLED"] = "1"  # pymilvus would read a `.env` into the environment
for module in (
    "groundwire_ingest.build.build",
    "groundwire_ingest.recognise",
    "groundwire_ingest.tree.scip.indexes",
    "groundwire_ingest.tree.source",
    "groundwire_mcp.serving",
    "groundwire_cli.command_line",
    "groundwire_server.rpc.serving.compose",
    "groundwire_server.rpc.serving.serve",
    "pymilvus",
):
    import_module(module)
import_module("groundwire.tokens").TokenCounter()  # its vocabulary
gc.freeze()  # otherwise the collector of each fork goes through all of it, and so copies it
