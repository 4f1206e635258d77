"""A server over a data folder: `serve_data DATA`."""

import sys
from pathlib import Path

from groundwire_server.config import Settings
from groundwire_server.rpc.serving.serve import serve

sys.exit(serve(Settings(data=Path(sys.argv[1]))))
