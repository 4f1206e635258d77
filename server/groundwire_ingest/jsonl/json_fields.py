"""The fields of one JSON object, read by type: no value is converted, and a boolean is no number."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from groundwire_index.limits import MAX_ACCESS_VALUE_LENGTH
from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.timestamps import TIMESTAMP_RULE, parse_timestamp

MAX_INTEGER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class JsonFields:
    """An object, and its place for messages.

    Each method raises IngestError, naming place, field, value and rule, when the value breaks the rule it is named for.
    """

    values: Mapping[str, JsonValue]
    place: str

    def refused(self, name: str, rule: str) -> IngestError:
        """The error for a value that breaks a rule; `rule` completes "it must"."""
        shown = json.dumps(self.values.get(name), ensure_ascii=False)
        return IngestError(f"{self.place}: field {name!r} is {shown[:80]}{'...' * (len(shown) > 80)}; it must {rule}")

    def check_names(self, known: frozenset[str]) -> None:
        """Refuses any field that the format does not know."""
        unknown = sorted(self.values.keys() - known)
        if unknown:
            raise IngestError(
                f"{self.place}: unknown field {unknown[0]!r}; the fields are {', '.join(sorted(known))}, and a node's "
                "'metadata' takes any others"
            )

    def required_text(self, name: str) -> str:
        """A string that the object must have; it may be empty."""
        if name not in self.values:
            raise IngestError(f"{self.place}: field {name!r} is missing; it must be a string")
        return self.text(name)

    def text(self, name: str) -> str:
        """A string; empty when the object leaves it out."""
        value = self.values.get(name, "")
        if not isinstance(value, str):
            raise self.refused(name, "be a string")
        return value

    def bounded_text(self, name: str, longest: int) -> str:
        """A string that the object must have, of 1 to `longest` characters."""
        value = self.required_text(name)
        if not 0 < len(value) <= longest:
            raise self.refused(name, f"hold 1 to {longest} characters")
        return value

    def whole_number(self, name: str) -> int:
        """A number from 0 to MAX_INTEGER; 0 when the object leaves it out."""
        value = self.values.get(name, 0)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_INTEGER:
            raise self.refused(name, f"be a whole number from 0 to {MAX_INTEGER}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        """A boolean; `default` when the object leaves it out."""
        value = self.values.get(name, default)
        if not isinstance(value, bool):
            raise self.refused(name, "be true or false")
        return value

    def timestamp(self, name: str) -> datetime | None:
        """A time, in UTC; None when the object leaves it out."""
        if name not in self.values:
            return None
        moment = parse_timestamp(self.text(name))
        if moment is None:
            raise self.refused(name, TIMESTAMP_RULE)
        return moment

    def names(self, name: str) -> tuple[str, ...] | None:
        """Access tags or labels; None when the object does not state it."""
        if name not in self.values:
            return None
        value = self.values[name]
        rule = f"be a list of strings of 1 to {MAX_ACCESS_VALUE_LENGTH} characters"
        if not isinstance(value, list):
            raise self.refused(name, rule)
        names = tuple(item for item in value if isinstance(item, str) and 0 < len(item) <= MAX_ACCESS_VALUE_LENGTH)
        if len(names) < len(value):
            raise self.refused(name, rule)
        return names
