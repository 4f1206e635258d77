"""Keeps metrics as a worker does, and is killed then: `metrics_worker FOLDER WORKER CALLS`.

Where a process keeps its metrics is settled once for all, so a worker here is a process as it is there.
"""

import os
import sys
from pathlib import Path

import grpc

from groundwire_server.rpc.admission.call_queue import MethodLoad
from groundwire_server.rpc.telemetry.call_record import CallRecord, Outcome, read_headers
from groundwire_server.rpc.telemetry.load import Load
from groundwire_server.rpc.telemetry.metering import Metrics
from groundwire_server.rpc.telemetry.shared_metrics import MetricsShare, keep_metrics_in

keep_metrics_in(MetricsShare(Path(sys.argv[1]), int(sys.argv[2])))
metrics = Metrics(None, "1.2.3")
for _ in range(int(sys.argv[3])):
    call = CallRecord("groundwire.v1.QueryService/Query", read_headers(None))
    metrics.count(call, Outcome(grpc.StatusCode.OK), 1_000_000)
metrics.note_load(Load({"Query": MethodLoad(running=2, waiting=3)}, 0, 0, 0, 0))
os._exit(1)
