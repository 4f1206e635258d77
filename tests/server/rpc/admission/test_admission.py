"""Admission against a fake clock: its limits, its order, its fairness, and what leaves the queue."""

from collections.abc import Callable
from typing import cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from groundwire_server.domain.errors import DeadlineError, LimitError
from groundwire_server.rpc.admission.admission import Admission, AdmissionBounds, MethodLoad
from groundwire_server.rpc.admission.method_queue import Turn

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


def admission_of(clock: Callable[[], float], threads: int, running: int, waiting: int) -> Admission:
    return Admission(AdmissionBounds(threads, running, waiting), clock)


def turn_of(method: str = "A", deadline: float = NEVER) -> Turn:
    return Turn(method, deadline, lambda _: lambda: None)


def entered(admission: Admission, count: int, method: str = "A", deadline: float = NEVER) -> list[Turn]:
    turns = [turn_of(method, deadline) for _ in range(count)]
    for turn in turns:
        admission.enter(turn)
    return turns


def work_off(admission: Admission, clock: Clock, seconds: float, calls: int) -> None:
    """Calls of `A` that took `seconds` each."""
    for _ in range(calls):
        (turn,) = entered(admission, 1)
        clock.now += seconds
        assert admission.finish(turn) is None


def test_a_flood_of_one_method_leaves_a_thread_to_the_others(clock: Clock) -> None:
    admission = admission_of(clock, threads=4, running=3, waiting=50)
    entered(admission, 50)
    assert admission.loads() == {"A": MethodLoad(3, 47)}
    assert admission.enter(turn_of("B"))


def test_a_full_queue_refuses_the_next_and_no_other_method(clock: Clock) -> None:
    admission = admission_of(clock, threads=2, running=1, waiting=2)
    entered(admission, 3)
    with pytest.raises(LimitError) as refused:
        admission.enter(turn_of())
    assert refused.value.metadata == {"method": "A", "rule": "waiting"}
    assert admission.enter(turn_of("B"))


def test_without_places_to_wait_what_cannot_run_at_once_is_refused(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=0)
    assert admission.enter(turn_of())
    with pytest.raises(LimitError):
        admission.enter(turn_of())


def test_a_free_thread_goes_to_the_method_with_the_fewest_running_calls(clock: Clock) -> None:
    admission = admission_of(clock, threads=4, running=4, waiting=50)
    (first, *_) = entered(admission, 10)
    (b, *_) = entered(admission, 2, "B")
    (c, *_) = entered(admission, 2, "C")
    assert admission.finish(first) is b
    assert admission.finish(b) is c


def test_a_call_that_would_miss_its_deadline_is_refused_when_it_has_to_wait(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=1.0, calls=16)
    assert admission.enter(turn_of(deadline=clock.now + 0.01)), "a free thread lets every call try"
    assert not admission.enter(turn_of(deadline=clock.now + 2.01))
    with pytest.raises(LimitError) as refused:
        admission.enter(turn_of(deadline=clock.now + 2.99))
    assert refused.value.metadata == {"method": "A", "rule": "deadline"}
    assert not admission.enter(turn_of(deadline=clock.now + 3.01))


def test_nothing_is_refused_for_its_deadline_while_no_time_is_known(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=1.0, calls=15)
    entered(admission, 50, deadline=clock.now + 0.001)


def test_a_call_whose_turn_comes_too_late_is_not_worked_on(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=1.0, calls=16)
    (running,) = entered(admission, 1)
    (expired,) = entered(admission, 1, deadline=clock.now + 2.5)
    (hopeless,) = entered(admission, 1, deadline=clock.now + 3.5)
    (good,) = entered(admission, 1)
    clock.now += 3
    assert admission.finish(running) is expired
    assert isinstance(expired.refusal, DeadlineError)
    assert admission.finish(expired) is hopeless
    assert cast("LimitError", hopeless.refusal).metadata["rule"] == "deadline"
    assert admission.finish(hopeless) is good
    assert good.refusal is None


def test_refused_turns_do_not_make_calls_look_quick(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=1.0, calls=16)
    (running,) = entered(admission, 1)
    waiting = entered(admission, 20, deadline=clock.now + 40)
    clock.now += 1000
    for turn in waiting:
        assert admission.finish(running) is turn
        running = turn
    assert admission.finish(running) is None
    entered(admission, 1)
    with pytest.raises(LimitError):
        admission.enter(turn_of(deadline=clock.now + 1.5))


def test_work_that_is_cut_short_at_its_deadline_does_not_make_calls_look_quick(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=1.0, calls=16)
    for _ in range(20):
        (turn,) = entered(admission, 1)
        clock.now += 0.1
        turn.cut_short = True
        admission.finish(turn)
    entered(admission, 1)
    with pytest.raises(LimitError):
        admission.enter(turn_of(deadline=clock.now + 1.5))


def test_a_wait_that_grows_is_seen_before_the_calls_that_are_slow_have_ended(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=0.1, calls=16)
    entered(admission, 2)
    assert not admission.enter(turn_of(deadline=clock.now + 5))
    clock.now += 4
    with pytest.raises(LimitError):
        admission.enter(turn_of(deadline=clock.now + 5))


def test_a_wait_is_measured_by_what_was_served_meanwhile_not_by_who_left(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    work_off(admission, clock, seconds=0.1, calls=16)
    (running,) = entered(admission, 1)
    impatient = entered(admission, 20, deadline=NEVER)
    entered(admission, 10)
    for turn in impatient[:-9]:
        admission.leave(turn)
    for turn in impatient[-9:]:
        clock.now += 1.0
        assert admission.finish(running) is turn
        running = turn
    with pytest.raises(LimitError):
        admission.enter(turn_of(deadline=clock.now + 9))
    assert not admission.enter(turn_of(deadline=clock.now + 15))


def test_a_turn_that_runs_cannot_leave(clock: Clock) -> None:
    admission = admission_of(clock, threads=1, running=1, waiting=50)
    running, waiting = entered(admission, 2)
    assert not admission.leave(running)
    assert admission.leave(waiting)
    assert not admission.leave(waiting)
    assert admission.finish(running) is None
    assert admission.loads() == {"A": MethodLoad(0, 0)}


class AdmissionMachine(RuleBasedStateMachine):
    """Any order of calls coming, ending, being given up and time passing, beside lists that say what must be."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.bounds = AdmissionBounds(worker_threads=3, max_running=2, max_waiting=4)
        self.admission = Admission(self.bounds, self.clock)
        self.running: list[Turn] = []
        self.waiting: list[Turn] = []
        self.passed_over: dict[Turn, int] = {}

    @rule(method=st.sampled_from(METHODS), seconds=st.floats(0.001, 20) | st.just(NEVER))
    def come(self, method: str, seconds: float) -> None:
        turn = turn_of(method, self.clock.now + seconds)
        before = [other for other in self.waiting if other.method == method]
        runs, rule = False, ""
        try:
            runs = self.admission.enter(turn)
        except LimitError as error:
            rule = error.metadata["rule"]
        assert (rule == "waiting") == (len(before) == self.bounds.max_waiting)
        assert not (runs and before)
        if not rule:
            (self.running if runs else self.waiting).append(turn)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.running))
        self.running.remove(turn)
        begun = self.admission.finish(turn)
        if begun is None:
            return
        first = next(other for other in self.waiting if other.method == begun.method)
        assert begun is first
        self.waiting.remove(begun)
        self.running.append(begun)
        self.passed_over.pop(begun, None)
        for method in {other.method for other in self.waiting} - {begun.method}:
            first = next(other for other in self.waiting if other.method == method)
            if self.count(self.running, method) == 0:
                self.passed_over[first] = self.passed_over.get(first, 0) + 1

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def give_up(self, data: st.DataObject) -> None:
        turn = data.draw(st.sampled_from(self.waiting))
        assert self.admission.leave(turn)
        self.waiting.remove(turn)

    @rule(seconds=st.floats(0, 5))
    def wait(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def limits_hold_and_no_thread_is_left_idle(self) -> None:
        for method, load in self.admission.loads().items():
            assert load == MethodLoad(self.count(self.running, method), self.count(self.waiting, method))
            assert load.running <= self.bounds.max_running
            if load.waiting:
                assert load.running == self.bounds.max_running or len(self.running) == self.bounds.worker_threads
        assert len(self.running) <= self.bounds.worker_threads

    @invariant()
    def no_method_starves(self) -> None:
        """One of which no call runs is passed over by each of the others once at most."""
        assert all(times < len(METHODS) for times in self.passed_over.values())

    def count(self, turns: list[Turn], method: str) -> int:
        """How many of them are of the method."""
        return sum(turn.method == method for turn in turns)


AdmissionMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=60, deadline=None)
TestAdmissionMachine = AdmissionMachine.TestCase
