"""What a file of pipelines holds, as strict models. Each rule is stated once, for the reader and the JSON Schema."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    WithJsonSchema,
    model_validator,
)

from groundwire_pipelines.wording import refused_text


@dataclass(frozen=True, slots=True)
class Spelling:
    """The form of a name; `rule` states it in messages, after the name."""

    pattern: re.Pattern[str]
    rule: str

    @property
    def schema(self) -> dict[str, JsonValue]:
        """The form as a JSON Schema states it."""
        return {"pattern": f"^{self.pattern.pattern}$"}

    def checked(self, name: str) -> str:
        """The name as given. Raises ValueError if it has another form."""
        if not self.pattern.fullmatch(name):
            raise ValueError(f"{name!r} {self.rule}")
        return name


PIPELINE_NAME: Final = Spelling(
    re.compile(r"[A-Za-z0-9_](?!.*\.ya?ml$)[A-Za-z0-9_.-]*"),
    "is no name for a pipeline: letters, digits, `_`, `-` and `.`, and no `.yaml` at the end",
)
STEP_ID: Final = Spelling(
    re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*"), "is no id for a step: letters, digits, `_` and `-`"
)
OWN_SETTING: Final = Spelling(
    re.compile(r"[A-Za-z_][A-Za-z0-9_-]*"), "is no name for a setting: letters, digits, `_` and `-`, and no digit first"
)
_ONE_ROOT = "a file holds either `pipeline:` or a list under `pipelines:`"


@dataclass(frozen=True, slots=True)
class TextOf:
    """A text that names something; `meaning` says what in messages."""

    meaning: str

    def checked(self, value: object) -> object:
        """The text as given. Raises ValueError for another value, and for a text that cannot be printed."""
        if not isinstance(value, str) or not value or not value.isprintable():
            raise ValueError(refused_text(value, self.meaning))
        return value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, use_attribute_docstrings=True)


def is_transition(key: str) -> bool:
    """True if a step's key names a transition: `next` or `on_...`."""
    return key == "next" or key.startswith("on_")


class StepDefinition(_Strict):
    """A step of a pipeline. In its file, transitions and the keys of the action stand beside `id` and `action`."""

    id: Annotated[str, AfterValidator(STEP_ID.checked)]
    """Its id, which transitions of other steps name."""
    action: Annotated[str, BeforeValidator(TextOf("the name of an action").checked)]
    """The name of its action."""
    transitions: dict[str, Annotated[str, BeforeValidator(TextOf("the id of a step").checked)]]
    """The step that follows each transition (`next` or `on_...`)."""
    raw: dict[str, JsonValue]
    """The keys of its action, as the file has them."""

    @model_validator(mode="before")
    @classmethod
    def _sorted_keys(cls, keys: object) -> object:
        if not isinstance(keys, Mapping):
            return keys
        transitions = {key: value for key, value in keys.items() if is_transition(key)}
        of_step = {key: keys[key] for key in ("id", "action") if key in keys}
        raw = {key: value for key, value in keys.items() if key not in transitions and key not in of_step}
        return {**of_step, "transitions": transitions, "raw": raw}


class PipelineModel(_Strict):
    """A pipeline of a file."""

    name: Annotated[str, AfterValidator(PIPELINE_NAME.checked), Field(json_schema_extra=PIPELINE_NAME.schema)]
    """Its name for other pipelines and for the command line."""
    description: str = ""
    """Its purpose; `groundwire pipeline list` prints it."""
    extends: Annotated[str, BeforeValidator(TextOf("the name or the path of a pipeline").checked)] = ""
    """The pipeline whose settings and steps this one starts from: a name, or a file's path."""
    prompts: list[Annotated[str, Field(min_length=1)]] = Field(default_factory=list[str])
    """Folders of prompts besides `prompts` next to the file, relative to it, nearest first."""
    # `pipeline_schema` says what settings and the steps of each action may hold.
    settings: Annotated[dict[str, JsonValue], WithJsonSchema({})] = Field(default_factory=dict[str, JsonValue])
    steps: Annotated[list[StepDefinition], WithJsonSchema({})] = Field(default_factory=list[StepDefinition])


class PipelineFile(_Strict):
    """A file: one pipeline, or a list of several."""

    pipeline: PipelineModel | None = None
    pipelines: Annotated[list[PipelineModel], Field(min_length=1)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _at_most_one(cls, keys: object) -> object:
        if isinstance(keys, Mapping) and cls.model_fields.keys() <= keys.keys():
            raise ValueError(_ONE_ROOT)
        return keys

    @model_validator(mode="after")
    def _at_least_one(self) -> Self:
        if self.pipeline is None and self.pipelines is None:
            raise ValueError(_ONE_ROOT)
        return self
