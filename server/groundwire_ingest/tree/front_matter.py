"""Front matter: the YAML at the top of a document that says what it is, who wrote it and when.

Values are read by YAML 1.2's JSON schema, so `no` and `1:30` are texts, as authors expect.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import isfinite

from groundwire_index.nodes.node import JsonValue
from groundwire_ingest.timestamps import parse_timestamp
from groundwire_ingest.tree.chunking import MAX_CHUNK_CHARACTERS
from groundwire_ingest.tree.yaml_tree import YamlError, YamlNode, yaml_documents

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_JSON_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_NULLS = frozenset({"", "~"})
_TIMES = ("updated", "date")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The front matter of a document. `metadata` holds every key that is not used for author or timestamp."""

    author: str = ""
    timestamp: datetime | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of `text`, the lines between the fences. YAML that is no mapping has no keys.

    `author` is used if it is a text that is not blank; the timestamp is `updated`, else `date`, if that is a full date
    (midnight UTC) or a time with a zone. Raises YamlError for text that is no YAML or longer than a chunk, for a key
    given twice, and for aliases, which may expand without limit.
    """
    if len(text) > MAX_CHUNK_CHARACTERS:
        raise YamlError(f"it has {len(text)} characters; at most {MAX_CHUNK_CHARACTERS} are read for keys", 1)
    documents = yaml_documents(text)
    if len(documents) > 1:
        raise YamlError("it holds more than one YAML document", documents[1].start_line)
    value = _value(documents[0].root) if documents else None
    return _taken(value) if isinstance(value, dict) else FrontMatter()


def _taken(keys: dict[str, JsonValue]) -> FrontMatter:
    others = dict(keys)
    author = keys.get("author")
    name = author.strip() if isinstance(author, str) else ""
    if name:
        del others["author"]
    moments = ((key, _moment(keys.get(key))) for key in _TIMES)
    key, moment = next(((key, moment) for key, moment in moments if moment is not None), ("", None))
    others.pop(key, None)
    return FrontMatter(name, moment, others)


def _moment(value: JsonValue) -> datetime | None:
    if not isinstance(value, str):
        return None
    return parse_timestamp(f"{value}T00:00:00Z" if _DATE.fullmatch(value) else value)


def _value(node: YamlNode) -> JsonValue:
    match node.kind:
        case "scalar":
            return _scalar(node)
        case "sequence":
            return list(map(_value, node.children))
        case "alias":
            raise YamlError("it uses an alias (*name); write the value out", node.line)
    mapping: dict[str, JsonValue] = {}
    for key, value in node.pairs():
        if key.kind != "scalar" or key.text in mapping:
            raise YamlError("a key is no plain text, or is given twice", key.line)
        mapping[key.text] = _value(value)
    return mapping


def _scalar(node: YamlNode) -> JsonValue:
    if node.is_plain and node.text in _NULLS:
        return None
    if node.is_plain and _JSON_SCALAR.fullmatch(node.text):
        value: JsonValue = json.loads(node.text)
        return value if not isinstance(value, float) or isfinite(value) else node.text
    return node.text
