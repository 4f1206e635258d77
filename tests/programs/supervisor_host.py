"""A supervisor of two workers that are stand-ins: `supervisor_host DATA`."""

import sys
from pathlib import Path

from groundwire_server.config import Settings
from groundwire_server.rpc.supervision.supervisor import supervise

loaded = {"grpc", "numpy", "faiss", "torch"} & set(sys.modules)
assert not loaded, loaded
settings = Settings(data=Path(sys.argv[1]), workers=2, listen="127.0.0.1:0", embedders=("a,b", "c"))
sys.exit(supervise(settings, "support.stand_in_worker", stop_seconds=0.5))
