"""Generates the committed Python stubs: `python protos/generate.py [OUTPUT_DIRECTORY]` (default: the repository).

Writes each stub next to its proto. grpcio-tools is pinned at the lowest grpcio and protobuf that the package allows:
generated code refuses to import on a runtime older than its generator.
"""

import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[1]
CONTRACT = Path("protos")
SCIP = Path("server", "groundwire_ingest", "tree", "scip")
_MESSAGES = ("python", "mypy")
_SERVICES = ("grpc_python", "mypy_grpc")


def generate(output: Path) -> None:
    """Writes the stubs below `output`, in the folders of their protos. Raises RuntimeError when protoc fails."""
    _generate(CONTRACT, output, (*_MESSAGES, *_SERVICES))
    _generate(SCIP, output, _MESSAGES)


def _generate(folder: Path, output: Path, plugins: tuple[str, ...]) -> None:
    source, target = ROOT / folder, output / folder
    target.mkdir(parents=True, exist_ok=True)
    protos = sorted(str(path.relative_to(source)) for path in source.rglob("*.proto"))
    arguments = [
        "protoc",
        f"--proto_path={source}",
        f"--proto_path={files('grpc_tools') / '_proto'}",
        *(f"--{plugin}_out={target}" for plugin in plugins),
        *protos,
    ]
    if protoc.main(arguments) != 0:
        raise RuntimeError(f"protoc failed for {', '.join(protos)}")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
