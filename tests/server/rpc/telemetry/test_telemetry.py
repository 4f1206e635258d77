"""What is not asked for is not loaded, and what is asked for but not installed is said before anything starts."""

import pytest

from support import programs

SUPERVISOR = "groundwire_server.rpc.supervision.supervisor"
MISSING = 'tracing: true: opentelemetry.sdk is not installed; pip install "groundwire[server,telemetry]"'


@pytest.mark.parametrize(("program", "output"), [("telemetry_off", "[]"), ("tracing_missing", MISSING)])
def test_libraries_are_loaded_when_they_are_asked_for(program: str, output: str) -> None:
    assert programs.output(program).strip() == output


def test_the_supervisor_loads_no_library_of_the_servers() -> None:
    assert programs.loaded(SUPERVISOR, "grpc prometheus_client opentelemetry") == []
