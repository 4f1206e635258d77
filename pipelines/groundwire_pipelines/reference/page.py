"""The reference of pipelines as a Markdown page, made of the code so that it cannot lag behind it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from groundwire_pipelines.actions.definition import Action, StepSettings
from groundwire_pipelines.actions.registry import BUILT_IN
from groundwire_pipelines.definition.loading import load_pipeline
from groundwire_pipelines.definition.search_path import PipelineSearch
from groundwire_pipelines.engine.binding import bind
from groundwire_pipelines.filter_keys import FilterKeys
from groundwire_pipelines.reference.keys import Key, keys_of
from groundwire_pipelines.reference.rules import rules
from groundwire_pipelines.settings import PipelineSettings

_HEAD: Final = """\
# Reference of pipelines

Made by `python -m groundwire_pipelines.reference > docs/pipelines-reference.md`; do not edit it. The guide is
[pipelines.md](pipelines.md). `groundwire pipeline actions` tells the same of the actions that are installed.

## A file

| key | what it holds |
| --- | --- |
| `pipeline`, or `pipelines` with a list | a pipeline, or several |
| `name` | what other pipelines and the command line call it |
| `description` | what it is for |
| `extends` | the pipeline that it starts from: of the same file, of a folder, of the library, or a path |
| `prompts` | folders of prompts besides `prompts` beside the file, relative to it, nearest first |
| `settings` | see below; they merge deeply, lists are replaced |
| `steps` | a list; steps merge by `id`, and a step replaces the whole of its parent's |
"""
_OF_EVERY_STEP: Final = """\
| key | what it holds |
| --- | --- |
| `id` | what ways out call the step: letters, digits, `_` and `-` |
| `action` | one of those below |
| `next`, `on_...` | the step that follows by that way out |
| `on_error` | the step that follows when this one fails; the run ends with the error when absent |
| `on_error.<rule>` | the same for errors of one rule; wins over `on_error` |
| `<key>_from_settings` | the setting, such as `top_k` or `limits.depth`, that gives `<key>` its value |
"""


def page() -> str:
    """The page; the same for the same code."""
    parts = [_HEAD, "## Settings\n", _settings(), "## Keys of every step\n", _OF_EVERY_STEP]
    parts += [_table(_without(keys_of(StepSettings), ())), "## Filters\n"]
    parts += [
        "The setting `filter` and the key `filter` of a step hold:\n",
        _table(keys_of(FilterKeys)),
        "## Actions\n",
    ]
    parts += [_action(action) for action in BUILT_IN]
    parts += ["## Prompts of the library\n", _prompts(), "## Rules\n", _rules()]
    return "\n".join(parts)


def _settings() -> str:
    told = "A pipeline may have others of its own, which steps take by `<key>_from_settings`."
    return f"{told}\n\n{_table(_without(keys_of(PipelineSettings), ('filter.',)))}"


def _action(action: Action[Any]) -> str:
    common = tuple(StepSettings.model_fields)
    keys = _without(keys_of(action.settings), (*common, "filter."))
    ways = ", ".join(f"`{way}`" for way in action.transitions) or "none: it ends the run"
    return f"### `{action.name}`\n\n{action.summary} Ways out: {ways}.\n" + (f"\n{_table(keys)}" if keys else "")


def _without(keys: Iterable[Key], prefixes: tuple[str, ...]) -> list[Key]:
    return [key for key in keys if not key.name.startswith(prefixes)] if prefixes else list(keys)


def _prompts() -> str:
    """The prompts that steps of the library use, and the variables that each of them is given."""
    actions = {action.name: action for action in BUILT_IN}
    used: dict[str, tuple[frozenset[str], list[str]]] = {}
    for source in PipelineSearch(()).all():
        definition = load_pipeline(source.name, actions=actions)
        for step in bind(definition, actions).values():
            for prompt, variables in step.prompts.items():
                steps = used.setdefault(prompt, (variables, []))[1]
                steps.append(f"{definition.name}: {step.definition.id}")
    return _rows(
        ("prompt", "variables", "used by"),
        (
            (f"`{prompt}`", ", ".join(f"`{name}`" for name in sorted(variables)), "; ".join(steps))
            for prompt, (variables, steps) in sorted(used.items())
        ),
    )


def _rules() -> str:
    told = (
        "A step that fails names its rule, by which `on_error.<rule>` branches. Errors of the server are "
        "`server-<reason>`, such as `server-scope-not-found`; a value of a wrong type in a pipeline that was put "
        "together in memory is `<key>-malformed`, a missing one `<key>-missing`.\n"
    )
    found: Mapping[str, Sequence[str]] = rules()
    return f"{told}\n{_rows(('rule', 'of'), ((f'`{rule}`', ', '.join(parts)) for rule, parts in found.items()))}"


def _table(keys: Iterable[Key]) -> str:
    return _rows(
        ("key", "value", "default", "meaning"),
        ((f"`{key.name}`", key.kind, key.default or "required", key.description) for key in keys),
    )


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join(_lines(head, rows))


def _lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n"
