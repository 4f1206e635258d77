"""Keys of a step that take their values from the pipeline's settings: `<key>_from_settings: <name>`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from groundwire_pipelines.wording import did_you_mean

SUFFIX: Final = "_from_settings"
"""The suffix of a key that names a setting instead of giving a value."""


@dataclass(frozen=True, slots=True)
class BrokenReference:
    """A key that names no usable setting: the key, the stable name of the rule, and the problem."""

    key: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class ResolvedKeys:
    """The keys of a step with the values of the settings that they name.

    `sources` has the dotted path of the setting for each key that takes its value from one.
    """

    values: Mapping[str, JsonValue]
    sources: Mapping[str, str]
    broken: tuple[BrokenReference, ...]


def resolved(raw: Mapping[str, JsonValue], settings: Mapping[str, JsonValue]) -> ResolvedKeys:
    """The keys of a step, each `<key>_from_settings` replaced by `<key>` with the setting's value.

    Args:
        raw: The step's keys as its file has them.
        settings: All settings of the pipeline; a name such as `limits.depth` leads into nested ones.
    """
    values: dict[str, JsonValue] = {key: value for key, value in raw.items() if not key.endswith(SUFFIX)}
    sources: dict[str, str] = {}
    broken: list[BrokenReference] = []
    for key, name in raw.items():
        if not key.endswith(SUFFIX):
            continue
        target = key.removesuffix(SUFFIX)
        if not isinstance(name, str):
            broken.append(
                BrokenReference(key, "settings-key-malformed", "must be the name of a setting, such as top_k")
            )
        elif target in values:
            broken.append(BrokenReference(key, "settings-key-exclusive", f"excludes {target}: keep one of them"))
        elif (value := _at(settings, name)) is None:
            broken.append(BrokenReference(key, "settings-key-missing", _missing(settings, name)))
        else:
            values[target], sources[target] = value, name
    return ResolvedKeys(values, sources, tuple(broken))


def _at(settings: Mapping[str, JsonValue], name: str) -> JsonValue:
    """The value at a dotted path; None where there is none."""
    value: JsonValue = dict(settings)
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _missing(settings: Mapping[str, JsonValue], name: str) -> str:
    parent, _, last = name.rpartition(".")
    within = _at(settings, parent) if parent else dict(settings)
    known = within if isinstance(within, dict) else {}
    if last in known:
        return f"the step uses the setting {name!r}, which has no value"
    near = did_you_mean(last, known, f"{parent}." if parent else "")
    return f"there is no setting {name!r}{near}"
