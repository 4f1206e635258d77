"""JSON-like values with the line that they were read from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import JsonValue

from groundwire_pipelines.definition.model import Origin

Scalar: TypeAlias = str | int | float | bool | None

MAX_DEPTH: Final = 32
"""How deep lists and mappings may be nested."""


@dataclass(frozen=True, slots=True)
class Located:
    """A value of a file, with the line of its key, or its own line if it has no key."""

    value: "Scalar | tuple[Located, ...] | Mapping[str, Located]"
    origin: Origin

    def plain(self) -> JsonValue:
        """The value without its lines."""
        if isinstance(self.value, Mapping):
            return {key: entry.plain() for key, entry in self.value.items()}
        if isinstance(self.value, tuple):
            return [item.plain() for item in self.value]
        return self.value


def located(value: JsonValue, origin: Origin, most_levels: int = MAX_DEPTH) -> Located:
    """A plain value that comes from one place as a whole. Raises ValueError if it is nested too deeply."""
    if most_levels < 0:
        raise ValueError(f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, dict):
        return Located({key: located(entry, origin, most_levels - 1) for key, entry in value.items()}, origin)
    if isinstance(value, list):
        return Located(tuple(located(item, origin, most_levels - 1) for item in value), origin)
    return Located(value, origin)
