"""Whatever calls come, begin and end: admission keeps its limits and its order, and starves no method."""

from collections import Counter
from contextlib import ExitStack

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from groundwire_server.domain.errors import LimitError
from groundwire_server.rpc.admission.method_queue import QueuedCall
from support.admitted_calls import NEVER, Calls, Clock

METHODS = ("A", "B", "C")


class AdmissionMachine(RuleBasedStateMachine):
    """Any order of calls coming, ending, being given up and time passing, beside lists that say what must be."""

    MOST_WAITING = 4

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.stack = ExitStack()
        self.calls = Calls(self.clock, self.stack, self.MOST_WAITING)
        self.admission = self.calls.admission
        self.under_way: Counter[str] = Counter()
        self.running: list[QueuedCall] = []
        self.waiting: list[QueuedCall] = []
        self.passed_over: Counter[QueuedCall] = Counter()

    @rule(method=st.sampled_from(METHODS), seconds=st.floats(0.001, 20) | st.just(NEVER))
    def come(self, method: str, seconds: float) -> None:
        before = [other for other in self.waiting if other.method == method]
        is_full, rule = self.under_way[method] > self.MOST_WAITING, ""
        try:
            call, runs = self.calls.come(method, self.clock.now + seconds)
        except LimitError as error:
            rule = error.metadata["rule"]
        else:
            assert not (runs and before)
            self.under_way[method] += 1
            (self.running if runs else self.waiting).append(call)
        assert (rule == "waiting") == is_full

    @precondition(lambda self: self.running)
    @rule()
    def end(self) -> None:
        """The part on top ends; the last one leaves the thread to the next."""
        self.running.pop()
        if not self.running:
            self.begun(self.admission.next())

    @precondition(lambda self: self.running)
    @rule(own=st.booleans())
    def give_way(self, own: bool) -> None:
        besides = None if own else self.running[-1].method
        call = self.admission.next_besides(besides)
        assert (call is None) == all(other.method == besides for other in self.waiting)
        self.begun(call, besides)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.waiting))
        self.admission.leave(call)
        self.waiting.remove(call)

    @rule(seconds=st.floats(0, 5))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def limits_hold_and_the_thread_is_not_left_idle(self) -> None:
        for method, load in self.admission.loads().items():
            assert load.waiting == sum(call.method == method for call in self.waiting)
        if self.waiting:
            assert self.running

    @invariant()
    def no_method_starves(self) -> None:
        """The first in a queue is passed over by each of the other methods once at most."""
        assert all(times < len(METHODS) for times in self.passed_over.values())

    def teardown(self) -> None:
        self.stack.close()

    def begun(self, call: QueuedCall | None, besides: str | None = None) -> None:
        """A thread takes it."""
        if call is None:
            return
        assert call is next(other for other in self.waiting if other.method == call.method)
        self.waiting.remove(call)
        self.running.append(call)
        del self.passed_over[call]
        for method in {other.method for other in self.waiting} - {call.method, besides}:
            self.passed_over[next(other for other in self.waiting if other.method == method)] += 1


AdmissionMachine.TestCase.settings = settings(stateful_step_count=60)
TestAdmissionMachine = AdmissionMachine.TestCase
