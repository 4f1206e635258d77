"""The reference of pipelines as a Markdown page, generated from the code."""

import ast
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from groundwire_pipelines.action_definition import StepSettings
from groundwire_pipelines.actions.registry import BUILT_IN
from groundwire_pipelines.definition.search_path import PipelineSearch
from groundwire_pipelines.engine.binding import bind
from groundwire_pipelines.filter_keys import FilterKeys
from groundwire_pipelines.loading import load_pipeline
from groundwire_pipelines.reference.keys import Key, keys_of
from groundwire_pipelines.settings import PipelineSettings

_PACKAGE: Final = Path(__file__).parent.parent
_RAISERS: Final = {"StepError": 0, "broken": 0, "OneOf": 1, "at_least_one": 0, "BrokenReference": 1}
"""The functions that make errors, and the position of the rule among their arguments."""
_RULE_TABLES: Final = ("_RULES",)


def rules() -> dict[str, tuple[str, ...]]:
    """All rules in the built-in code, sorted, with the parts of the package that raise them."""
    parts_of_rule: dict[str, set[str]] = {}
    for path in sorted(_PACKAGE.rglob("*.py")):
        if "reference" in path.relative_to(_PACKAGE).parts:
            continue
        part = path.stem if path.parent.name in ("actions", "action_parts") else path.parent.name
        for rule in _named(ast.parse(path.read_text(encoding="utf-8"))):
            parts_of_rule.setdefault(rule, set()).add(part)
    return {rule: tuple(sorted(parts_of_rule[rule])) for rule in sorted(parts_of_rule)}


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in _RAISERS:
                yield from _texts(arguments[_RAISERS[name] : _RAISERS[name] + 1])
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple(elts=rows)) if name in _RULE_TABLES:
                for row in rows:
                    yield from _texts(row.elts[1:] if isinstance(row, ast.Tuple) else [])
            case _:
                pass


def _texts(arguments: list[ast.expr]) -> Iterator[str]:
    for argument in arguments:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
            yield argument.value


_HEAD: Final = """\
# Reference of pipelines

Generated from the code by `make reference`. The guide is [pipelines.md](pipelines.md). `groundwire pipeline actions`
prints the same for all installed actions.

## A file

| key | what it holds |
| --- | --- |
| `pipeline`, or `pipelines` with a list | a pipeline, or several |
| `name` | the name by which other pipelines and the command line refer to it |
| `description` | what it is for |
| `extends` | its parent: a pipeline of the same file, of a folder, of the library, or a path |
| `prompts` | further folders of prompts, relative to the file, nearest first; `prompts` next to it is always one |
| `settings` | see below; they are merged deeply with the parent's, lists are replaced |
| `steps` | a list, merged with the parent's by `id`; a step replaces the parent's as a whole |
"""
_OF_EVERY_STEP: Final = """\
| key | what it holds |
| --- | --- |
| `id` | the name by which transitions refer to the step: letters, digits, `_` and `-` |
| `action` | one of those below |
| `next`, `on_...` | a transition: the id of the step that follows |
| `on_error` | the step that follows when this one fails; the run ends with the error when absent |
| `on_error.<rule>` | the same for errors of one rule; takes precedence over `on_error` |
| `<key>_from_settings` | the setting, such as `top_k` or `limits.depth`, that gives `<key>` its value |
"""


def page() -> str:
    """The page; the same for the same code."""
    parts = (
        _HEAD,
        "## Settings\n",
        "A pipeline may have any others, which steps refer to by `<key>_from_settings`.\n",
        _table(_without(keys_of(PipelineSettings), ("filter.",))),
        "## Keys of every step\n",
        _OF_EVERY_STEP,
        _table(keys_of(StepSettings)),
        "## Filters\n",
        "The setting `filter` and the key `filter` of a step hold:\n",
        _table(keys_of(FilterKeys)),
        "## Actions\n",
        *_actions(),
        "## Prompts of the library\n",
        _prompts(),
        "## Rules\n",
        _rules(),
    )
    return "\n".join(parts)


def _actions() -> Iterator[str]:
    """The sections of the actions; a meaning that an earlier key has as well is a reference to that key."""
    explained: dict[str, str] = {}
    for action in BUILT_IN:
        keys = []
        for key in _without(keys_of(action.settings), (*StepSettings.model_fields, "filter.")):
            this = f"as `{key.name}` of `{action.name}`"
            first = explained.setdefault(key.description, this)
            keys.append(key if first == this else replace(key, description=first))
        transitions = ", ".join(f"`{name}`" for name in action.transitions) or "none; it ends the run"
        paragraph = _wrapped(f"{action.summary} Transitions: {transitions}.")
        yield f"### `{action.name}`\n\n{paragraph}\n" + (f"\n{_table(keys)}" if keys else "")


def _without(keys: Iterable[Key], prefixes: tuple[str, ...]) -> list[Key]:
    return [key for key in keys if not key.name.startswith(prefixes)]


def _prompts() -> str:
    """The prompts of the library with their variables, and the steps that use them."""
    actions = {action.name: action for action in BUILT_IN}
    used: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for source in PipelineSearch(()).all():
        definition = load_pipeline(source.name, actions=actions)
        for step in bind(definition, actions).values():
            for prompt, variables in step.action.prompts_of(step.settings).items():
                used[prompt] = (variables, used.get(prompt, (variables, frozenset()))[1] | {step.definition.id})
    return _rows(
        ("prompt", "variables", "steps"),
        ((f"`{prompt}`", *map(_names, columns)) for prompt, columns in sorted(used.items())),
    )


def _rules() -> str:
    paragraph = _wrapped(
        "A step that fails names its rule, and `on_error.<rule>` branches on it. Errors of the server are "
        "`server-<reason>`, such as `server-scope-not-found`; a value of a wrong type in a pipeline that was put "
        "together in memory is `<key>-malformed`, a missing one `<key>-missing`."
    )
    of_part: defaultdict[str, list[str]] = defaultdict(list)
    for rule, parts in rules().items():
        for part in parts:
            of_part[part].append(rule)
    lines = (_wrapped(f"- {part}: {_names(rule_names)}") for part, rule_names in sorted(of_part.items()))
    return "\n".join((paragraph, "", *lines, ""))


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names))


def _wrapped(paragraph: str) -> str:
    indent = "  " if paragraph.startswith("- ") else ""
    return textwrap.fill(paragraph, width=120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _table(keys: Iterable[Key]) -> str:
    return _rows(
        ("key", "value", "default", "meaning"),
        ((f"`{key.name}`", key.kind, key.default or "required", key.description) for key in keys),
    )


def _rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (" | ".join(cell.replace("|", r"\|") for cell in row) for row in (head, ["---"] * len(head), *rows))
    return "".join(f"| {line} |\n" for line in lines)
