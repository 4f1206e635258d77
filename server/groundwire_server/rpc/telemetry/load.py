"""The load that the metrics show. Imports nothing that a server without metrics does not have."""

from collections.abc import Mapping
from dataclasses import dataclass

from groundwire_server.rpc.admission.call_queue import MethodLoad


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a server at one moment: its calls by method, and what is bounded for all of them together.

    `memory_bytes` is the memory of requests and responses, `without_memory` the number of calls that wait for some.
    `watches` is the number of streams that watch health, `audit_failures` the number of records that could not be
    written.
    """

    methods: Mapping[str, MethodLoad]
    memory_bytes: int
    without_memory: int
    watches: int
    audit_failures: int
