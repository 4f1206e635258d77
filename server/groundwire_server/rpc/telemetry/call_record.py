"""One call as telemetry sees it: when its stages ran, what they reported, and how it ended."""

import re
import time
import uuid
from dataclasses import dataclass, field

import grpc
import grpc.aio

from groundwire_index.scope import Scope
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.access.grants import ANYBODY, Caller
from groundwire_server.execution.observation import CallObserver, observer

REQUEST_ID_KEY = "x-request-id"
TRACE_PARENT_KEY = "traceparent"
TRACE_STATE_KEY = "tracestate"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
# https://www.w3.org/TR/trace-context/#traceparent-header; versions after 00 may append fields.
_TRACE_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


@dataclass(frozen=True, slots=True)
class CallHeaders:
    """`request_id` is the caller's own where it is fit for a log, else a new one; `trace` is the W3C context as given.

    `caller_trace_id` is the 32 hex digits of a well-formed `traceparent`, else "".
    """

    request_id: str
    trace: dict[str, str]
    caller_trace_id: str


def read_headers(metadata: grpc.aio.Metadata | None) -> CallHeaders:
    """Of a key that is given twice, the first valid value is used."""
    request_id, trace = "", dict[str, str]()
    for key, value in metadata or ():
        if not isinstance(value, str):
            continue
        if key == REQUEST_ID_KEY and not request_id and _REQUEST_ID.fullmatch(value):
            request_id = value
        elif key in (TRACE_PARENT_KEY, TRACE_STATE_KEY):
            trace.setdefault(key, value)
    parent = _TRACE_PARENT.fullmatch(trace.get(TRACE_PARENT_KEY, ""))
    return CallHeaders(request_id or uuid.uuid4().hex, trace, parent[1] if parent else "")


@dataclass(slots=True)
class Stage:
    """A part of a call, in nanoseconds of `time.perf_counter_ns`; `ended` is 0 while it lasts.

    `parent` is the place of the stage that it is a part of, -1 for the call itself.
    """

    name: str
    parent: int
    began: int
    ended: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended. `reason` is an ErrorReason's full name or "", `index` the version that answered or ""."""

    code: grpc.StatusCode
    reason: str = ""
    index: str = ""
    error: Exception | None = None


@dataclass(slots=True)
class CallRecord(CallObserver):
    """The data of one call for telemetry, reported after the call has ended.

    A call whose caller stopped waiting is reported at once, while another thread may still add to it. Reporters use the
    data that is there. `method` is `package.Service/Method`. `peer` is the caller's address if log or audit records it,
    `query` the query's text if the log records it, else "". `times_stages` is False if stages are not reported.
    `queue_began` and `queue_ended` are of the last wait to compute, `queue_nanoseconds` of all, None when
    no part has run. `caller` is who makes the call, once known. `scopes` are those that the request names, `access`
    the access that the answer is made with.
    """

    method: str
    headers: CallHeaders
    times_stages: bool = True
    peer: str = ""
    query: str = ""
    caller: Caller = ANYBODY
    scopes: tuple[Scope, ...] = ()
    access: AccessContext | None = None
    began: int = field(default_factory=time.perf_counter_ns)
    stages: list[Stage] = field(default_factory=list[Stage])
    queue_began: int = 0
    queue_ended: int = 0
    queue_nanoseconds: int | None = None
    visible_nodes: list[int] = field(default_factory=list[int])
    open_indexes: int | None = None
    vector_look_ups: list[bool] = field(default_factory=list[bool])
    batches: list[int] = field(default_factory=list[int])
    _open_stages: list[int] = field(default_factory=list[int])

    @property
    def method_name(self) -> str:
        """The method without its service; no two services share one."""
        return self.method.rpartition("/")[2]

    def queued(self) -> None:
        self.queue_began, self.queue_ended = time.perf_counter_ns(), 0

    def started(self) -> None:
        self.queue_ended = time.perf_counter_ns()
        self.queue_nanoseconds = (self.queue_nanoseconds or 0) + self.queue_ended - self.queue_began

    def stage_began(self, name: str) -> None:
        if not self.times_stages:
            return
        parent = self._open_stages[-1] if self._open_stages else -1
        self._open_stages.append(len(self.stages))
        self.stages.append(Stage(name, parent, time.perf_counter_ns()))

    def stage_ended(self) -> None:
        if self.times_stages:
            self.stages[self._open_stages.pop()].ended = time.perf_counter_ns()

    def saw_nodes(self, count: int) -> None:
        self.visible_nodes.append(count)

    def opened_indexes(self, count: int) -> None:
        self.open_indexes = count

    def looked_up_vector(self, known: bool) -> None:
        self.vector_look_ups.append(known)

    def embedded_batch(self, queries: int) -> None:
        self.batches.append(queries)


def current_call() -> CallRecord:
    """The call that this task works on."""
    call = observer()
    assert isinstance(call, CallRecord)
    return call
