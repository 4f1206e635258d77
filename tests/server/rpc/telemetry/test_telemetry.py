"""What is not asked for is not loaded, and what is asked for but not installed is said before anything starts."""

import subprocess
import sys

import pytest

NOTHING_LOADED = """
import sys
from groundwire_server.config import Settings
from groundwire_server.rpc.telemetry.telemetry import Telemetry
Telemetry(Settings())
optional = ("prometheus_client", "opentelemetry", "grpc_channelz")
print([name for name in sys.modules if name.startswith(optional)])
"""
NOT_INSTALLED = """
import sys
sys.modules["opentelemetry"] = None
from groundwire_server.config import Settings, SettingsError
from groundwire_server.rpc.telemetry.telemetry import Telemetry
try:
    Telemetry(Settings(tracing=True))
except SettingsError as error:
    print(error)
"""
SUPERVISOR = """
import sys
from groundwire_server.rpc.supervision import supervisor
print([name for name in sys.modules if name.startswith(("grpc", "prometheus_client", "opentelemetry"))])
"""
MISSING = 'tracing: true: opentelemetry.sdk is not installed; pip install "groundwire[server,telemetry]"'


@pytest.mark.parametrize(
    ("script", "said"),
    [(NOTHING_LOADED, "[]"), (NOT_INSTALLED, MISSING), (SUPERVISOR, "[]")],
    ids=["server", "not-installed", "supervisor"],
)
def test_libraries_are_loaded_when_they_are_asked_for(script: str, said: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == said
