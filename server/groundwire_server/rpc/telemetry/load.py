"""The load that the metrics show. Imports nothing that a server without metrics does not have."""

from collections.abc import Mapping
from dataclasses import dataclass

from groundwire_server.rpc.admission.admission import MethodLoad


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a server at one moment: its calls by method, and what is bounded for all of them together.

    `memory_bytes` is what requests and responses hold, `without_memory` how many calls wait for some of it, `watches`
    how many streams watch its health, `audit_failures` how many records of calls could not be written so far.
    """

    methods: Mapping[str, MethodLoad]
    memory_bytes: int
    without_memory: int
    watches: int
    audit_failures: int
