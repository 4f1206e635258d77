"""Whatever calls come, begin and end: the queue keeps its limits and its order, and starves no line."""

from collections import Counter
from contextlib import ExitStack

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from groundwire_server.domain.errors import LimitError
from groundwire_server.rpc.admission.call_queue import MOST_LONG, QueuedCall
from support.admitted_calls import NEVER, Calls, Clock

METHODS, SUBJECTS = ("A", "B"), ("", "one", "other")


def line_of(call: QueuedCall) -> tuple[str, str]:
    return call.method, call.subject


class CallQueueMachine(RuleBasedStateMachine):
    """Any order of calls coming, ending, being given up and time passing, checked against lists."""

    MOST_CALLS = 9

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.stack = ExitStack()
        self.calls = Calls(self.clock, self.stack, self.MOST_CALLS - 1)
        self.computing: list[QueuedCall] = []
        self.waiting: list[QueuedCall] = []
        self.passed_over: Counter[QueuedCall] = Counter()

    @rule(
        method=st.sampled_from(METHODS),
        subject=st.sampled_from(SUBJECTS),
        seconds=st.floats(0.001, 20) | st.just(NEVER),
    )
    def come(self, method: str, subject: str, seconds: float) -> None:
        accepted = [other for other in (*self.computing, *self.waiting) if other.method == method]
        left = self.MOST_CALLS - len(accepted)
        of_subject = sum(other.subject == subject for other in accepted)
        is_full, refused_by = left <= 0 or (subject != "" and of_subject >= left), ""
        try:
            call, runs = self.calls.come(method, self.clock.now + seconds, subject)
        except LimitError as error:
            refused_by = error.metadata["rule"]
        else:
            (self.computing if runs else self.waiting).append(call)
        assert (refused_by == "waiting") == is_full

    @precondition(lambda self: self.computing)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.computing))
        self.computing.remove(call)
        self.begun(self.calls.serve(call))

    @precondition(lambda self: any(call.has_place for call in self.computing))
    @rule()
    def give_way(self) -> None:
        self.begun(self.calls.queue.give_way(next(call for call in self.computing if call.has_place)))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        call = data.draw(st.sampled_from(self.waiting))
        self.calls.give_up(call)
        self.waiting.remove(call)

    @rule(seconds=st.floats(0, 5))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def limits_hold_and_no_place_is_left_idle(self) -> None:
        for method, load in self.calls.queue.loads().items():
            assert load.waiting == sum(call.method == method for call in self.waiting)
        assert len(self.computing) <= 1 + MOST_LONG
        computing = Counter(map(line_of, self.computing))
        assert all(count <= MOST_LONG for count in computing.values()), "a thread is left for another line"
        if not any(call.has_place for call in self.computing):
            assert all(computing[line_of(call)] == MOST_LONG for call in self.waiting)

    @invariant()
    def no_line_starves(self) -> None:
        """The first in a line is passed over by each of the other lines once at most."""
        assert all(times < len(METHODS) * len(SUBJECTS) for times in self.passed_over.values())

    def teardown(self) -> None:
        self.stack.close()

    def begun(self, call: QueuedCall | None) -> None:
        if call is None:
            return
        assert call is next(other for other in self.waiting if line_of(other) == line_of(call))
        self.waiting.remove(call)
        computing = Counter(map(line_of, self.computing))
        self.computing.append(call)
        del self.passed_over[call]
        for line in {line_of(other) for other in self.waiting} - {line_of(call)}:
            if computing[line] < MOST_LONG:
                self.passed_over[next(other for other in self.waiting if line_of(other) == line)] += 1


CallQueueMachine.TestCase.settings = settings(stateful_step_count=60)
TestCallQueueMachine = CallQueueMachine.TestCase
