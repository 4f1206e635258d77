"""The records of a bundle, whose producers spell field names variously: `AclTags`, `acl_allow`, `acl_tags_any`.

Names are compared without regard to case, underscores, hyphens and spaces. A field given twice in different spellings
must agree; a field that is not known is kept as metadata under its own name.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.ingest_errors import IngestError
from groundwire_ingest.jsonl.json_fields import MAX_INTEGER, JsonFields
from groundwire_ingest.jsonl.strict_json import parse_json
from groundwire_ingest.records import StatedAccess

ACCESS_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "acl_tags": ("acl_tags", "acl_tags_any", "acl_allow"),
    "classification_labels": ("classification_labels", "classification_labels_all"),
    "clearance_level": ("clearance_level", "user_level", "doc_level"),
    "tenant_id": ("tenant_id", "tenant"),
}
"""Access fields by this project's names; they may also be in an object named `security`."""

_LIST_FIELDS = ("acl_tags", "classification_labels")
_NESTED_ACCESS = "security"


@dataclass(frozen=True, slots=True)
class BundleRecord(JsonFields):
    """One record: the fields that its reader asked for by canonical name, its place for messages, all other fields."""

    others: Mapping[str, JsonValue]

    def refused(self, name: str, rule: str) -> IngestError:
        """The error for a value that breaks a rule; `rule` completes "it must"."""
        shown = json.dumps(self.values.get(name), ensure_ascii=False)
        return IngestError(f"{self.place}: field {name!r} is {shown[:80]}; it must {rule}")

    def text(self, name: str) -> str:
        """A string; "" when the record has none or null. Raises IngestError for any other type."""
        return "" if self.values.get(name) is None else JsonFields.text(self, name)

    def identifier(self, name: str) -> str:
        """A string or whole number, as a string that is not empty. Raises IngestError for anything else."""
        value = self.values.get(name)
        if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
            raise self.refused(name, "be a string that is not empty, or a whole number")
        return str(value)

    def names(self, name: str) -> tuple[str, ...] | None:
        """Access tags or labels; None when the record does not state it, none when it is null."""
        is_null = name in self.values and self.values[name] is None
        return () if is_null else JsonFields.names(self, name)

    def access(self) -> StatedAccess:
        """The access that the record states. A field that is null states that there is none."""
        return StatedAccess(
            tenant_id=self.text("tenant_id") if "tenant_id" in self.values else None,
            acl_tags=self.names("acl_tags"),
            classification_labels=self.names("classification_labels"),
            clearance_level=self._clearance_level(),
        )

    def _clearance_level(self) -> int | None:
        if "clearance_level" not in self.values:
            return None
        value = self.values["clearance_level"]
        if value is None:
            return 0
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INTEGER:
            raise self.refused("clearance_level", f"be a whole number from 0 to {MAX_INTEGER}, or null")
        return value


def bundle_record(value: JsonValue, spellings: Mapping[str, tuple[str, ...]], place: str) -> BundleRecord:
    """The record of a JSON object, read for the fields of `spellings`, which gives each its accepted names.

    Raises IngestError when the value is no object, or when two spellings of one field disagree.
    """
    if not isinstance(value, dict):
        raise IngestError(f"{place}: is no JSON object")
    fields = {_normalised(name): field for field, names in spellings.items() for name in names}
    access_fields = {name: field for name, field in fields.items() if field in ACCESS_SPELLINGS}
    known: dict[str, JsonValue] = {}
    others: dict[str, JsonValue] = {}
    for name, item in value.items():
        if _normalised(name) == _NESTED_ACCESS and isinstance(item, dict) and access_fields:
            nested_others = _sort_out(item, access_fields, known, place)
            if nested_others:
                others[name] = nested_others
        else:
            others.update(_sort_out({name: item}, fields, known, place))
    return BundleRecord(known, place, others)


def csv_records(text: str, spellings: Mapping[str, tuple[str, ...]], name: str) -> Iterator[BundleRecord]:
    """The rows of a CSV text with a header; empty cells of fields that are not known are left out.

    A cell of access names is a JSON list, or names separated by semicolons; an empty one states that there are none.
    Raises IngestError, naming the line, for a row that is malformed or longer or shorter than the header.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    fields = {_normalised(name): field for field, names in spellings.items() for name in names}
    try:
        header = next(reader, [])
        if len(set(header)) < len(header):
            raise IngestError(f"{name}:1: names a column twice")
        for row in reader:
            place = f"{name}:{reader.line_num}"
            if not row:
                continue
            if len(row) != len(header):
                raise IngestError(f"{place}: has {len(row)} cells where the header has {len(header)}")
            yield bundle_record(dict(_cells(header, row, fields, place)), spellings, place)
    except csv.Error as error:
        raise IngestError(f"{name}:{reader.line_num}: is not valid CSV ({error})") from error


def _sort_out(
    items: Mapping[str, JsonValue], fields: Mapping[str, str], known: dict[str, JsonValue], place: str
) -> dict[str, JsonValue]:
    """Puts the items that are known into `known`, by field; returns the others."""
    others: dict[str, JsonValue] = {}
    for name, item in items.items():
        field = fields.get(_normalised(name))
        if field is None:
            others[name] = item
        elif field in known and known[field] != item:
            raise IngestError(f"{place}: two spellings of field {field!r} disagree; {name!r} is one of them")
        else:
            known[field] = item
    return others


def _cells(header: list[str], row: list[str], fields: Mapping[str, str], place: str) -> Iterator[tuple[str, JsonValue]]:
    for name, cell in zip(header, row, strict=True):
        field = fields.get(_normalised(name))
        if field in _LIST_FIELDS:
            yield name, _listed(cell, f"{place}: column {name!r}")
        elif field == "clearance_level":
            yield name, int(cell) if cell.isdecimal() and len(cell) < 20 else cell or None
        elif cell or field is not None:
            yield name, cell


def _listed(cell: str, place: str) -> JsonValue:
    if cell.startswith("["):
        return parse_json(cell, place)
    if "," in cell or "|" in cell:
        raise IngestError(f"{place} is {cell[:80]!r}; separate names by semicolons, or write a JSON list")
    return [name.strip() for name in cell.split(";") if name.strip()]


def _normalised(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")
