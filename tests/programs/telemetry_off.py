"""Makes telemetry that is switched off, and prints which of its libraries are loaded."""

import sys

from groundwire_server.config import Settings
from groundwire_server.rpc.telemetry.telemetry import Telemetry

Telemetry(Settings())
print([name for name in sys.modules if name.startswith(("prometheus_client", "opentelemetry", "grpc_channelz"))])
