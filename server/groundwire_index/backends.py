"""The registry of the backends: each record by its name.

The embedded one, which has a folder for each version, is always there. Any other backend is found by an entry point of
the group `groundwire.backends`: its name is that of the backend, and it leads to the record.
"""

from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from groundwire_index.embedding.model_names import without_user
from groundwire_index.storage import Backend, OptionError, Values

if TYPE_CHECKING:
    from groundwire_index.store.store import IndexStore


def _embedded_storage(data: Path, values: Values) -> "IndexStore":
    from groundwire_index.store.store import IndexStore

    return IndexStore(data)


EMBEDDED = Backend(
    settings=(),
    threads=1,  # its parts compute, so they would gain nothing by running in parallel
    storage=_embedded_storage,
    serving="groundwire_server.backends.embedded.backend:open_backend",
)
DEFAULT_BACKEND = "embedded"
_ENTRY_POINTS = "groundwire.backends"


def all_backends() -> dict[str, Backend]:
    """The embedded backend, and the installed ones by their names. None of these can take its place."""
    installed = {point.name: point.load() for point in sorted(entry_points(group=_ENTRY_POINTS))}
    return {DEFAULT_BACKEND: EMBEDDED} | installed | {DEFAULT_BACKEND: EMBEDDED}


BACKENDS: Mapping[str, Backend] = MappingProxyType(all_backends())
SETTINGS = {setting.name: setting for backend in BACKENDS.values() for setting in backend.settings}
"""The settings of all backends, by name."""


def checked(backend: str, values: Values, *, others: bool = False) -> Values:
    """The values of a backend's own settings: the given ones, or the defaults.

    Raises OptionError for a value that breaks its rule or has no use with the backend, and for one that is missing.
    With `others`, values of other backends have no effect, unless they shape builds.
    """
    if backend not in BACKENDS:
        raise OptionError(f"backend: {backend!r}: must be one of {', '.join(BACKENDS)}")
    settings = {setting.name: setting for setting in BACKENDS[backend].settings}
    for name, value in values.items():
        setting = SETTINGS[name]
        if others and name not in settings and not setting.builds:
            continue
        if value == setting.default:
            if setting.required and name in settings:
                raise OptionError(f"{name}: must be given with the backend {backend}")
            continue
        try:
            setting.check(value)
        except ValueError as error:
            shown = "" if setting.secret else f"{without_user(repr(value))}: "
            raise OptionError(f"{name}: {shown}{error}") from None
        if name not in settings:
            raise OptionError(f"{name}: has no use with the backend {backend}; set backend")
    return {name: values.get(name, setting.default) for name, setting in settings.items()}
