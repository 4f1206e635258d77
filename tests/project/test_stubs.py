"""What `make stubs` writes is committed as it is now: stubs, the synchronous client, the chart's schema of settings."""

from pathlib import Path

from project.tools import ROOT, run_tool

STUBS = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")
FOLDERS = ("protos", "server")


def test_stubs_are_generated_from_the_protos_as_they_are(tmp_path: Path) -> None:
    run_tool("python", "protos/generate.py", str(tmp_path))

    committed, generated = _stubs(ROOT), _stubs(tmp_path)

    assert generated
    assert committed.keys() == generated.keys()
    drifted = [name for name, content in generated.items() if committed[name] != content]
    assert not drifted, "run `make stubs`"


def test_the_synchronous_client_is_generated_of_the_asynchronous_one(tmp_path: Path) -> None:
    generated = tmp_path / "_client.py"
    run_tool("python", "client/generate_client.py", str(generated))
    committed = ROOT / "client" / "groundwire_client" / "_client.py"
    assert committed.read_bytes() == generated.read_bytes(), "run `make stubs`"


def test_the_chart_knows_the_settings_of_the_server(tmp_path: Path) -> None:
    generated = tmp_path / "values.schema.json"
    run_tool("python", "deploy/chart_schema.py", str(generated))
    committed = ROOT / "deploy" / "helm" / "groundwire" / "values.schema.json"
    assert committed.read_bytes() == generated.read_bytes(), "run `make stubs`"


def _stubs(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for folder in FOLDERS
        for pattern in STUBS
        for path in sorted((root / folder).rglob(pattern))
    }
