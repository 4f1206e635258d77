"""Writes the contract as Envoy's JSON transcoder reads it: `python deploy/descriptors.py [FILE]`.

The file is a FileDescriptorSet of the protos with all that they import, and of `google.rpc`, whose types are the
details of errors. It is committed; a test compares it with the protos.
"""

import sys
from importlib.resources import files
from pathlib import Path

from google.rpc import error_details_pb2
from grpc_tools import protoc

DEPLOY = Path(__file__).resolve().parent
PROTOS = DEPLOY.parent / "protos"
PROTOSET = DEPLOY / "envoy" / "groundwire.protoset"
ERROR_PROTOS = ("google/rpc/status.proto", "google/rpc/error_details.proto")


def write_descriptors(output: Path) -> None:
    """Writes the descriptors to `output`. Raises RuntimeError when protoc fails."""
    protos = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    arguments = [
        "protoc",
        f"--proto_path={PROTOS}",
        f"--proto_path={files('grpc_tools') / '_proto'}",
        f"--proto_path={Path(error_details_pb2.__file__).parents[2]}",
        "--include_imports",
        f"--descriptor_set_out={output}",
        *protos,
        *ERROR_PROTOS,
    ]
    if protoc.main(arguments) != 0:
        raise RuntimeError(f"protoc failed for {', '.join(protos)}")


if __name__ == "__main__":
    write_descriptors(Path(sys.argv[1]) if len(sys.argv) > 1 else PROTOSET)
