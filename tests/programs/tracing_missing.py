"""Asks for tracing where its libraries are not installed, and prints the error."""

import sys
from unittest.mock import patch

with patch.dict(sys.modules, {"opentelemetry": None}):
    from groundwire_server.config import Settings, SettingsError
    from groundwire_server.rpc.telemetry.telemetry import Telemetry

    try:
        Telemetry(Settings(tracing=True))
    except SettingsError as error:
        print(error)
