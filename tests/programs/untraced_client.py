"""Imports a module of the client, which must neither load OpenTelemetry nor trace: `untraced_client MODULE`."""

import sys
from importlib import import_module

import_module(sys.argv[1])
from groundwire_client._transport import trace_metadata  # noqa: E402 - after the module that is tested

assert trace_metadata() == ()
assert not [name for name in sys.modules if name.startswith("opentelemetry")]
