"""The rules that models state, in the words of those who write YAML files."""

import re
from collections.abc import Mapping
from typing import Final

from pydantic_core import ErrorDetails

_SUBJECT = re.compile("^(?:Input|String|List|Tuple|Set|Dictionary|Value|Number) should ")
_KINDS: Final[Mapping[str, str]] = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
}
"""What a value has to be, by the type of the error that pydantic reports."""


def rule_in_words(details: ErrorDetails) -> str:
    """The rule that a value breaks, such as `must be a whole number` or `must have at least 1 item`.

    A message of a validator is returned as it is.
    """
    kind = _KINDS.get(details["type"])
    if kind is not None:
        return f"must be {kind}"
    # pydantic writes `List should have at least 1 item after validation, not 0`.
    return _SUBJECT.sub("must ", details["msg"].removeprefix("Value error, ")).partition(" after validation")[0]
