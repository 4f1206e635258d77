from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import ValidationError

from groundwire_pipelines.action_definition import Action
from groundwire_pipelines.actions import registry, search_nodes
from groundwire_pipelines.errors import PipelineError
from groundwire_pipelines.validation.findings import parsed

NAMES = """
    translate_in_if_needed load_conversation_history check_context_budget describe_index call_model handle_prefix
    search_nodes fetch_more_context gather_evidence query check_retrieval expand_dependency_tree find_paths
    fetch_node_texts render_context_blocks render_paths summarize_context loop_guard persist_turn_and_finalize finalize
""".split()
KEYS = [(action, key) for action in registry.BUILT_IN for key in action.settings.model_fields]


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No test sees another's plug-ins."""
    registry.actions.cache_clear()
    yield
    registry.actions.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, *entries: tuple[str, str]) -> None:
    """Plug-ins by name and the object that they point at."""
    points = [EntryPoint(name, value, registry.PLUGIN_GROUP) for name, value in entries]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.PLUGIN_GROUP else [])


def test_holds_the_built_in_actions_by_their_names() -> None:
    actions = registry.actions()
    assert list(actions) == NAMES
    assert all(action.name == name for name, action in actions.items())


def test_fetch_more_context_is_search_nodes_by_its_other_name() -> None:
    actions = registry.actions()
    assert actions["fetch_more_context"].run is search_nodes.ACTION.run
    assert actions["fetch_more_context"].settings is search_nodes.ACTION.settings


def test_is_closed() -> None:
    assert isinstance(registry.actions(), MappingProxyType)


def test_plug_ins_come_last_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    module = type("Module", (), {})
    for name in ("b_act", "a_act"):
        setattr(module, name, Action(name, "Acts.", search_nodes.SearchSettings, search_nodes.ACTION.run))
    monkeypatch.setitem(__import__("sys").modules, "plug_in_module", module)
    install(monkeypatch, ("b_act", "plug_in_module:b_act"), ("a_act", "plug_in_module:a_act"))
    assert list(registry.actions()) == [*NAMES, "a_act", "b_act"]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("finalize", "groundwire_pipelines.actions.finalize:ACTION", "takes the name of another action: rename it"),
        ("mine", "no_such_module:ACTION", "cannot be loaded: No module named 'no_such_module'"),
        ("mine", "groundwire_pipelines.actions.finalize:NOTHING", "cannot be loaded: module"),
        ("mine", "groundwire_pipelines.actions.finalize:ACTION", "must point at an Action of that name"),
        ("mine", "groundwire_pipelines.actions.registry:PLUGIN_GROUP", "must point at an Action of that name"),
    ],
)
def test_refuses_a_plug_in_that_is_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str) -> None:
    install(monkeypatch, (name, value))
    with pytest.raises(PipelineError, match="the action") as caught:
        registry.actions()
    assert f"{name!r} ({value})" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(("action", "key"), KEYS)
def test_a_key_without_a_value_breaks_a_rule_or_is_as_if_absent(action: Action[Any], key: str) -> None:
    with suppress(ValidationError):
        assert getattr(parsed(action.settings, {key: None}), key) is None
