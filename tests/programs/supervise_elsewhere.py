"""Asks for several workers on a system that is not Linux."""

import sys
from unittest.mock import patch

from groundwire_server.config import Settings
from groundwire_server.rpc.supervision.supervisor import supervise

with patch.object(sys, "platform", "darwin"):
    sys.exit(supervise(Settings(workers=3)))
