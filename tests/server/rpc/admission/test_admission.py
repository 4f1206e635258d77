"""Admission against a fake clock: whom it refuses, whom it lets wait, and what leaves the queue."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import cast

import pytest

from groundwire_server.domain.errors import DeadlineError, LimitError
from groundwire_server.rpc.admission.admission import MethodLoad
from groundwire_server.rpc.admission.method_queue import QueuedCall
from support.admitted_calls import NEVER, Calls, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


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


def test_a_call_that_a_thread_takes_too_late_is_not_worked_on(clock: Clock, stack: ExitStack) -> None:
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


def test_refused_calls_do_not_make_calls_look_quick(clock: Clock, stack: ExitStack) -> None:
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


def test_a_call_that_runs_cannot_leave_and_one_that_waits_can(clock: Clock, stack: ExitStack) -> None:
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


def test_on_top_of_a_part_that_takes_long_come_those_of_other_methods(clock: Clock, stack: ExitStack) -> None:
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


def test_calls_that_never_needed_the_thread_tell_how_much_work_one_is(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    for _ in range(16):
        call = QueuedCall("A", NEVER)
        with calls.admission.under_way(call):
            call.spent = 0.1
    calls.several(1)
    with pytest.raises(LimitError):
        calls.come(deadline=clock.now + 0.15)
