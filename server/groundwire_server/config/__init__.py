"""The server's settings, a module for each group of them, in the order of docs/settings.md.

`storage`, `listening`, `access`, `retrieval` and `telemetry` declare them; `settings` puts them
together, with the rules over several groups, and `loading` reads them. Types of values are in `values`.
"""

from groundwire_server.config.group import SettingsError
from groundwire_server.config.loading import load_settings
from groundwire_server.config.settings import Settings

__all__ = ["Settings", "SettingsError", "load_settings"]
