"""A JSON Schema of pipeline files, made from the registry, for completion and checks in editors.

It covers one file at a time; what only shows after the merge (missing steps, required settings) is left to the
validator.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from groundwire_pipelines.action_definition import ON_ERROR, Action
from groundwire_pipelines.definition.file_models import OWN_SETTING, STEP_ID, PipelineModel
from groundwire_pipelines.definition.references import SUFFIX
from groundwire_pipelines.settings import PipelineSettings

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_Schema = dict[str, JsonValue]
_FOLLOWS = "The step that follows."


class _Untitled(GenerateJsonSchema):
    """Omits the titles that pydantic makes from field names, which editors would show above each description."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def pipeline_schema(actions: Mapping[str, Action[Any]]) -> _Schema:
    """The schema (draft 2020-12) of files whose steps name these actions; the same bytes for the same registry."""
    known = [actions[name] for name in sorted(actions)]
    refs, generated = models_json_schema(
        [
            (PipelineModel, "validation"),
            (PipelineSettings, "validation"),
            *((action.settings, "validation") for action in known),
        ],
        schema_generator=_Untitled,
    )
    definitions: dict[str, _Schema] = generated["$defs"]
    names = {model: str(ref["$ref"]).rpartition("/")[2] for (model, _), ref in refs.items()}
    settings = definitions.pop(names[PipelineSettings])
    # A child may omit required keys that its parent has.
    settings.pop("required", None)
    settings["additionalProperties"] = True
    settings["propertyNames"] = OWN_SETTING.schema
    pipeline = _pipeline(definitions.pop(names[PipelineModel]))
    steps = {action.name: _step(action, definitions[names[action.settings]]) for action in known}
    for model, name in names.items():
        if model not in (PipelineSettings, PipelineModel):
            definitions.pop(name, None)
    return {
        "$schema": _DIALECT,
        "title": "Groundwire pipelines",
        "type": "object",
        "properties": {
            "pipeline": {"$ref": "#/$defs/pipeline"},
            "pipelines": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/pipeline"}},
        },
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
        "$defs": {
            "pipeline": pipeline,
            "settings": settings,
            "step": _any_step(known),
            **{f"step.{name}": step for name, step in steps.items()},
            **definitions,
        },
    }


def _pipeline(own_schema: _Schema) -> _Schema:
    """The keys of a pipeline; those of its settings and steps are in schemas of their own."""
    own_keys = own_schema["properties"]
    assert isinstance(own_keys, dict)
    own_keys["settings"] = {"$ref": "#/$defs/settings"}
    own_keys["steps"] = {"type": "array", "items": {"$ref": "#/$defs/step"}}
    return own_schema


def _any_step(actions: list[Action[Any]]) -> _Schema:
    """Every step has an id and an action, which decides the other keys; one `if` per action keeps errors specific."""
    by_action: list[JsonValue] = [
        {
            "if": {"properties": {"action": {"const": action.name}}, "required": ["action"]},
            "then": {"$ref": f"#/$defs/step.{action.name}"},
        }
        for action in actions
    ]
    return {
        "type": "object",
        "properties": {"id": _step_id("What transitions call it.")},
        "required": ["id", "action"],
        "allOf": [
            {
                "properties": {
                    "action": {"oneOf": [{"const": action.name, "description": action.summary} for action in actions]}
                }
            },
            *by_action,
        ],
    }


def _step(action: Action[Any], own_schema: _Schema) -> _Schema:
    """The keys of one action. Transitions that depend on other keys are allowed but not required."""
    own_keys = own_schema.get("properties", {})
    required = own_schema.get("required", [])
    assert isinstance(own_keys, dict)
    assert isinstance(required, list)
    always = action.transitions if action.transitions_of is None else ()
    given: list[JsonValue] = [{"anyOf": [{"required": [key]}, {"required": [f"{key}{SUFFIX}"]}]} for key in required]
    from_settings: _Schema = {f"{key}{SUFFIX}": _setting_name(key) for key in own_keys}
    of_errors = f"^{ON_ERROR}\\.[a-z0-9-]+$"
    own_ways = of_errors if action.transitions_of is None else f"{of_errors}|^on_"
    return {
        "type": "object",
        "description": action.summary,
        "properties": {
            "id": True,
            "action": True,
            **{name: _step_id(_FOLLOWS) for name in action.transitions},
            ON_ERROR: _step_id("The step that follows when this one fails; `on_error.<rule>` is that for one rule."),
            **own_keys,
            **from_settings,
        },
        "patternProperties": {own_ways: _step_id(_FOLLOWS)},
        "required": [*always],
        **({"allOf": given} if given else {}),
        "additionalProperties": False,
    }


def _setting_name(key: str) -> _Schema:
    return {"type": "string", "minLength": 1, "description": f"The setting that gives {key}, such as limits.depth."}


def _step_id(description: str) -> _Schema:
    return {"type": "string", **STEP_ID.schema, "description": description}
