"""A supervisor of two workers that are stand-ins: `supervisor_host DATA`.

A worker that lives for less than an hour dies young here, so that it does also where it starts slowly.
"""

import sys
from pathlib import Path

from groundwire_server.config import Settings
from groundwire_server.rpc.supervision import supervisor

loaded = {"grpc", "numpy", "faiss", "torch"} & set(sys.modules)
assert not loaded, loaded
settings = Settings(data=Path(sys.argv[1]), workers=2, listen="127.0.0.1:0", embedders=("a,b", "c"))
supervisor.YOUNG_SECONDS = 3_600.0
sys.exit(supervisor.supervise(settings, "support.stand_in_worker", stop_seconds=0.5))
