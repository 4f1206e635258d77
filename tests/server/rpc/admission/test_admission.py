"""Admission against a fake clock: its limits, its order, its fairness, and what leaves the queue."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from groundwire_server.domain.errors import DeadlineError, LimitError
from groundwire_server.rpc.admission.admission import Admission, MethodLoad
from groundwire_server.rpc.admission.method_queue import QueuedCall

METHODS = ("A", "B", "C")
NEVER = 1e9


class Clock:
    """A clock that goes on when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


class Calls:
    """An admission, and the calls that are under way."""

    def __init__(self, clock: Callable[[], float], stack: ExitStack, waiting: int = 50, threads: int = 1) -> None:
        self.admission = Admission(waiting, clock, threads)
        self._stack = stack

    def come(self, method: str = "A", deadline: float = NEVER) -> tuple[QueuedCall, bool]:
        """A new call, and whether it begins at once. Raises LimitError."""
        call = QueuedCall(method, deadline)
        with ExitStack() as refused:
            refused.enter_context(self.admission.under_way(call))
            runs = self.admission.enter(call)
            self._stack.push(refused.pop_all())
        return call, runs

    def several(self, count: int, method: str = "A", deadline: float = NEVER) -> list[QueuedCall]:
        return [self.come(method, deadline)[0] for _ in range(count)]


def work_off(calls: Calls, clock: Clock, seconds: float, count: int) -> None:
    """Calls of `A` that took `seconds` each."""
    for _ in range(count):
        call = QueuedCall("A", NEVER)
        with calls.admission.under_way(call):
            calls.admission.enter(call)
            clock.now += seconds
            call.spent = seconds
            assert calls.admission.next() is None


def test_a_flood_of_one_method_leaves_every_other_turn_to_the_others(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    _, *flood = calls.several(50)
    b, runs = calls.come("B")
    assert not runs
    c, _ = calls.come("C")
    assert calls.admission.loads() == {"A": MethodLoad(1, 49), "B": MethodLoad(0, 1), "C": MethodLoad(0, 1)}
    assert calls.admission.next() is b
    assert calls.admission.next() is c
    assert calls.admission.next() is flood[0]


def test_a_call_that_has_begun_goes_on_before_others_begin(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    first, second = calls.several(2)
    assert calls.admission.next() is second
    (third,) = calls.several(1)
    assert not calls.admission.enter(first), "its next part"
    assert calls.admission.next() is first
    assert calls.admission.next() is third


def test_beyond_the_most_the_next_is_refused_and_no_other_method(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=2)
    calls.several(3)
    for refuse in (calls.come, lambda: calls.admission.check("A", NEVER)):
        with pytest.raises(LimitError) as refused:
            refuse()
        assert refused.value.metadata == {"method": "A", "rule": "waiting"}
    calls.come("B")
    assert calls.admission.loads() == {"A": MethodLoad(1, 2), "B": MethodLoad(0, 1)}


def test_without_places_to_wait_what_cannot_run_at_once_is_refused(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=0)
    assert calls.come()[1]
    with pytest.raises(LimitError):
        calls.come()


def test_a_call_that_waits_for_a_model_counts_and_keeps_the_thread_from_nobody(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=1)
    calls.several(1)
    assert calls.admission.next() is None
    assert calls.come()[1]
    with pytest.raises(LimitError):
        calls.come()


def test_a_call_that_would_miss_its_deadline_is_refused_when_it_has_to_wait(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=1.0, count=16)
    assert calls.come(deadline=clock.now + 0.01)[1], "a free thread lets every call try"
    assert not calls.come(deadline=clock.now + 2.01)[1]
    for refuse in (lambda: calls.come(deadline=clock.now + 2.99), lambda: calls.admission.check("A", 2.99)):
        with pytest.raises(LimitError) as refused:
            refuse()
        assert refused.value.metadata == {"method": "A", "rule": "deadline"}
    assert not calls.come(deadline=clock.now + 3.01)[1]


def test_nothing_is_refused_for_its_deadline_while_no_time_is_known(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=1.0, count=15)
    calls.several(50, deadline=clock.now + 0.001)


def test_a_call_whose_turn_comes_too_late_is_not_worked_on(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=1.0, count=16)
    calls.several(1)
    (expired,) = calls.several(1, deadline=clock.now + 2.5)
    (hopeless,) = calls.several(1, deadline=clock.now + 3.5)
    (good,) = calls.several(1)
    clock.now += 3
    assert calls.admission.next() is expired
    assert isinstance(expired.refusal, DeadlineError)
    assert calls.admission.next() is hopeless
    assert cast("LimitError", hopeless.refusal).metadata["rule"] == "deadline"
    assert calls.admission.next() is good
    assert good.refusal is None


def test_refused_turns_do_not_make_calls_look_quick(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=1.0, count=16)
    with ExitStack() as under_way:
        waited = Calls(clock, under_way)
        waited.admission = calls.admission
        waited.several(1)
        waiting = waited.several(20, deadline=clock.now + 40)
        clock.now += 1000
        for call in waiting:
            assert calls.admission.next() is call
        assert calls.admission.next() is None
    calls.several(1)
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 1.5)


def test_work_that_is_cut_short_at_its_deadline_does_not_make_calls_look_quick(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=1.0, count=16)
    for _ in range(20):
        call = QueuedCall("A", NEVER)
        with suppress(DeadlineError), calls.admission.under_way(call):
            calls.admission.enter(call)
            clock.now += 0.1
            call.spent = 0.1
            calls.admission.next()
            raise DeadlineError
    calls.several(1)
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 1.5)


def test_a_wait_that_grows_is_seen_before_the_calls_that_are_slow_have_ended(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=0.1, count=16)
    calls.several(2)
    assert not calls.come(deadline=clock.now + 5)[1]
    clock.now += 4
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 5)


def test_a_wait_is_measured_by_what_was_served_meanwhile_not_by_who_left(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    work_off(calls, clock, seconds=0.1, count=16)
    calls.several(1)
    impatient = calls.several(20)
    calls.several(10)
    for call in impatient[:-9]:
        calls.admission.leave(call)
    for call in impatient[-9:]:
        clock.now += 1.0
        assert calls.admission.next() is call
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 9)
    assert not calls.come(deadline=clock.now + 15)[1]


def test_a_turn_that_runs_cannot_leave_and_one_that_waits_can(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    running, waiting = calls.several(2)
    calls.admission.leave(running)
    assert calls.admission.loads() == {"A": MethodLoad(1, 1)}
    calls.admission.leave(waiting)
    calls.admission.leave(waiting)
    assert calls.admission.next() is None


def test_a_call_that_has_begun_may_leave_before_its_next_part(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    first, second = calls.several(2)
    assert calls.admission.next() is second
    assert not calls.admission.enter(first)
    calls.admission.leave(first)
    assert calls.admission.next() is None


def test_on_top_of_a_turn_that_takes_long_come_those_of_other_methods(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    _, own = calls.several(2)
    assert calls.admission.next_besides("A") is None
    assert not calls.come("B")[1], "the thread is not idle for it"
    (other,) = calls.several(1, "C")
    assert cast("QueuedCall", calls.admission.next_besides("A")).method == "B"
    assert calls.admission.next_besides("A") is other
    assert calls.admission.next_besides("A") is None
    assert calls.admission.next_besides(None) is own
    assert calls.admission.next() is None
    assert calls.come()[1]


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


AdmissionMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
TestAdmissionMachine = AdmissionMachine.TestCase


def test_several_threads_take_turns_side_by_side(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, threads=2)
    first, second, third = calls.come(), calls.come("B"), calls.come()
    assert [first[1], second[1], third[1]] == [True, True, False]
    assert calls.admission.next() is third[0]
    assert calls.admission.next() is None  # one thread is idle now, the other still at work
    assert calls.come("B")[1]
    assert not calls.come("B")[1]


def test_a_call_waits_half_as_long_where_two_threads_serve(clock: Clock, stack: ExitStack) -> None:
    alone, together = Calls(clock, stack), Calls(clock, stack, threads=2)
    for calls, running in ((alone, 1), (together, 2)):
        work_off(calls, clock, seconds=1.0, count=20)
        calls.several(running)
    with pytest.raises(LimitError):
        alone.come(deadline=clock.now + 1.75)
    together.come(deadline=clock.now + 1.75)


def test_a_call_is_refused_when_the_parts_of_others_leave_it_too_little_time(clock: Clock, stack: ExitStack) -> None:
    """Calls of 0.1 s of work, between whose parts others run, so that each lasts a second."""
    calls = Calls(clock, stack)
    for _ in range(16):
        call = QueuedCall("A", NEVER)
        with calls.admission.under_way(call):
            calls.admission.enter(call)
            clock.now += 1.0
            call.spent = 0.1
            assert calls.admission.next() is None
    calls.several(1)
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 0.9)
    call, _ = calls.come(deadline=clock.now + 1.5)
    clock.now += 1.0
    assert calls.admission.next() is call
    assert isinstance(call.refusal, LimitError)


def test_calls_that_never_needed_a_turn_tell_how_much_work_one_is(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    for _ in range(16):
        call = QueuedCall("A", NEVER)
        with calls.admission.under_way(call):
            call.spent = 0.1
    calls.several(1)
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 0.15)
