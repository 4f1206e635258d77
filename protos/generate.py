"""Generates the committed Python stubs: `python protos/generate.py [OUTPUT_DIRECTORY]` (default: beside the protos).

grpcio-tools is pinned at the lowest grpcio and protobuf that the package admits, because generated code refuses to
import on a runtime older than its generator.
"""

import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent


def generate(output: Path) -> None:
    """Writes `_pb2.py`, `_pb2_grpc.py` and their `.pyi` below `output`. Raises RuntimeError when protoc fails."""
    protos = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.proto"))
    arguments = [
        "protoc",
        f"--proto_path={ROOT}",
        f"--proto_path={files('grpc_tools') / '_proto'}",
        f"--python_out={output}",
        f"--grpc_python_out={output}",
        f"--mypy_out={output}",
        f"--mypy_grpc_out={output}",
        *protos,
    ]
    if protoc.main(arguments) != 0:
        raise RuntimeError(f"protoc failed for {', '.join(protos)}")


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT)
