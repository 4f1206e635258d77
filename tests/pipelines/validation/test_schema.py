"""The schema refuses what is wrong within one file; the validator then finds what shows only after the merge."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from groundwire_pipelines.actions.registry import actions
from groundwire_pipelines.definition.pipeline_file import read_document
from groundwire_pipelines.definition.search_path import LIBRARY
from groundwire_pipelines.settings import PipelineSettings
from groundwire_pipelines.validation.schema import pipeline_schema
from support.small_registry import SMALL_REGISTRY

CASES = Path(__file__).parents[1] / "definition" / "cases"

# Wrong, but not by what stands in one file, or by a rule between keys that a schema does not have.
ONLY_THE_VALIDATOR_REFUSES = {
    "end_out_of_reach",
    "entry_missing",
    "entry_unknown",
    "extends_file_of_several",
    "extends_in_a_circle",
    "extends_itself",
    "extends_missing_file",
    "extends_unknown",
    "extends_unknown_in_file",
    "file_name_twice",
    "inherited_step_is_wrong",
    "loop_beside_a_guarded_one",
    "loop_of_itself",
    "loop_unguarded",
    "loops_two",
    "child_gives_wrong_type",
    "reference_besides_a_value",
    "reference_of_wrong_type",
    "parent_is_wrong",
    "pipeline_without_steps",
    "prompt_missing",
    "prompt_variable",
    "setting_absent_for_step",
    "setting_filter_key_unknown",
    "setting_named_by_key_unknown",
    "setting_needed_by_action",
    "setting_needed_by_key",
    "setting_null_counts_as_absent",
    "setting_unknown",
    "step_id_twice",
    "step_keys_contradict",
    "target_unknown",
    "transition_of_another_protocol",
}
SMALL_SCHEMA = pipeline_schema(SMALL_REGISTRY)


def cases() -> list[str]:
    """The cases whose YAML can be read at all."""
    return sorted(path.stem for path in CASES.glob("*.yaml") if not path.stem.startswith("yaml_"))


def problems(name: str) -> list[str]:
    document = read_document(CASES / f"{name}.yaml").plain()
    return [error.message for error in Draft202012Validator(SMALL_SCHEMA).iter_errors(document)]


@pytest.mark.parametrize("name", cases())
def test_the_schema_agrees_with_the_validator(name: str) -> None:
    text = (CASES / f"{name}.yaml").read_text()
    accepted = "# error: " not in text or name in ONLY_THE_VALIDATOR_REFUSES
    assert (problems(name) == []) == accepted


def test_the_schema_names_the_wrong_key() -> None:
    (unknown,) = problems("step_unknown_key")
    assert unknown.startswith("'topk' does not match")
    assert problems("transition_missing") == ["'on_over_limit' is a required property"]


def test_the_real_schema_is_a_schema_and_admits_the_library() -> None:
    schema = pipeline_schema(actions())
    Draft202012Validator.check_schema(schema)
    for path in sorted(LIBRARY.glob("*.yaml")):
        assert list(Draft202012Validator(schema).iter_errors(read_document(path).plain())) == []


def test_the_real_schema_allows_transitions_of_own_prefixes_and_answers_by_a_schema() -> None:
    steps: list[dict[str, JsonValue]] = [
        {"id": "read", "action": "handle_prefix", "prefixes": {"[CODE:]": "code"}, "on_code": "ask"},
        {
            "id": "ask",
            "action": "call_model",
            "prompt": "plan",
            "output": "plan",
            "response_schema": {"type": "object"},
            "next": "end",
        },
        {"id": "end", "action": "finalize"},
    ]
    validator = Draft202012Validator(pipeline_schema(actions()))
    assert list(validator.iter_errors({"pipeline": {"name": "own", "steps": steps}})) == []
    steps[0]["code"] = "ask"
    assert list(validator.iter_errors({"pipeline": {"name": "own", "steps": steps}})) != []


def test_the_schema_describes_every_setting_and_action() -> None:
    definitions = pipeline_schema(actions())["$defs"]
    assert isinstance(definitions, dict)
    settings = definitions["settings"]
    assert isinstance(settings, dict)
    keys = settings["properties"]
    assert isinstance(keys, dict)
    assert list(keys) == list(PipelineSettings.model_fields)
    assert all(isinstance(key, dict) and key["description"] for key in keys.values())
    assert {name for name in definitions if name.startswith("step.")} == {f"step.{name}" for name in actions()}


def test_the_schema_does_not_depend_on_the_order_of_the_registry() -> None:
    turned = dict(reversed(list(SMALL_REGISTRY.items())))
    assert json.dumps(pipeline_schema(turned)) == json.dumps(SMALL_SCHEMA)
