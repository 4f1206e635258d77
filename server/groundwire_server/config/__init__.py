"""The server's settings: `settings` declares them, and `loading` reads them. Types of values are in `values`."""

from groundwire_server.config.group import SettingsError
from groundwire_server.config.loading import load_settings
from groundwire_server.config.settings import Settings

__all__ = ["Settings", "SettingsError", "load_settings"]
