"""Commands start without loading what only others need."""

import pytest

from support import programs

CLIENT, PIPELINES = "groundwire_client", "groundwire_pipelines"


@pytest.mark.parametrize(("command", "loaded"), [("index", []), ("delete", [CLIENT]), ("search", [CLIENT])])
def test_a_command_loads_only_what_it_needs(command: str, loaded: list[str]) -> None:
    shown = programs.output("command_loads", command, CLIENT, PIPELINES)
    assert f"groundwire {command} " in shown
    assert shown.splitlines()[-1].split() == loaded
