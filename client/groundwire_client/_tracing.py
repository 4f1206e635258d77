"""The trace that a call belongs to, handed on to the server."""

import sys
from collections.abc import Sequence


def trace_metadata() -> Sequence[tuple[str, str]]:
    """The current OpenTelemetry context as metadata, W3C `traceparent` unless OTEL_PROPAGATORS says otherwise.

    Nothing where this process does not use OpenTelemetry: the client does not import it for a context that cannot be.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from opentelemetry import propagate

    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return tuple((key.lower(), value) for key, value in carrier.items())
