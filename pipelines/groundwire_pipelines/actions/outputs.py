"""The named answers of model steps, for later prompts and searches."""

import json

from pydantic import JsonValue

from groundwire_pipelines.errors import StepError
from groundwire_pipelines.state import PipelineState


def output_text(state: PipelineState, path: str) -> str:
    """An output, or a field of one such as `plan.query`: a text unchanged, any other value as JSON.

    Raises:
        StepError: `output-missing`, if no step has written the output, or it has no such field.
    """
    name, *fields = path.split(".")
    if name not in state.outputs:
        known = ", ".join(sorted(state.outputs)) or "none"
        raise StepError("output-missing", f"no step has written the output {name!r} yet; there are: {known}")
    value: JsonValue = state.outputs[name]
    for field in fields:
        if not isinstance(value, dict) or field not in value:
            raise StepError("output-missing", f"the output {name!r} has no field {field!r} for {path!r}")
        value = value[field]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
