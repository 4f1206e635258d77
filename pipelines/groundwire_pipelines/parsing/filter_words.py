"""A filter in words, for the prompt of a router."""

import json
from dataclasses import fields

from groundwire_client import Filter
from groundwire_pipelines.parsing.filters import FILTER_NAMES, FLAG_FIELDS


def filters_in_words(base: Filter) -> str:
    """What searches are restricted to, and how a query may narrow them further; the same words for the same filter."""
    given = {field.name: getattr(base, field.name) for field in fields(base)}
    restrictions = [f"- {name}: {_json(value)}" for name, value in given.items() if value or value is False]
    names = ", ".join(dict.fromkeys(FILTER_NAMES.values()))
    flags = ", ".join(FLAG_FIELDS)
    return "\n".join(
        (
            "Every search is restricted to:" if restrictions else "Searches are not restricted.",
            *restrictions,
            'A query may narrow it further as the object {"query": "...", "filters": {...}} on one line. Its filters:',
            f"{names}.",
            f"Each value is a text or a list of alternatives; {flags} are true or false.",
        )
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=dict)
