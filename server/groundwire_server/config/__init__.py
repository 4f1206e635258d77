"""The server's settings: `settings` declares them, and `loading` reads them. Types of values are in `values`."""

from groundwire_server.config.loading import load_settings
from groundwire_server.config.settings import Settings, SettingsError

__all__ = ["Settings", "SettingsError", "load_settings"]
