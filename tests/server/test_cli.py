"""Commands start without loading what only others need."""

import subprocess
import sys

import pytest

CLIENT, PIPELINES = "groundwire_client", "groundwire_pipelines"


@pytest.mark.parametrize(("command", "loaded"), [("index", []), ("delete", [CLIENT]), ("search", [CLIENT])])
def test_a_command_loads_only_what_it_needs(command: str, loaded: list[str]) -> None:
    program = (
        "import atexit, sys\n"
        "from groundwire_server.cli import main\n"
        f"atexit.register(lambda: print(*sorted({{'{CLIENT}', '{PIPELINES}'}} & set(sys.modules))))\n"
        f"sys.argv = ['groundwire', '{command}', '--help']\n"
        "main()"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert f"groundwire {command} " in ended.stdout
    assert ended.stdout.splitlines()[-1].split() == loaded
