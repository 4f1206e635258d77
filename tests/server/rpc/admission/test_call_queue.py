"""The queue of calls against a fake clock: whom it refuses, whom it lets wait, and who computes next."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import cast

import pytest

from groundwire_server.domain.errors import DeadlineError, LimitError
from groundwire_server.rpc.admission.call_queue import KNOWN_AFTER, MOST_LONG, MethodLoad, QueuedCall
from support.admitted_calls import Calls, Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def rule_of(calls: Calls, method: str = "A", deadline: float = 1e9, subject: str = "") -> str:
    """The rule by which a call is refused."""
    with pytest.raises(LimitError) as refused:
        calls.come(method, deadline, subject)
    assert refused.value.metadata["method"] == method
    return refused.value.metadata["rule"]


def test_lines_take_turns(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    running, *flood = calls.several(50)
    b, runs = calls.come("B")
    assert not runs
    other, _ = calls.come("A", subject="other")
    assert calls.queue.loads() == {"A": MethodLoad(1, 50), "B": MethodLoad(0, 1)}
    order = [running]
    while (following := calls.serve(order[-1])) is not None:
        order.append(following)
    assert order == [running, flood[0], b, other, *flood[1:]]


def test_three_light_queries_end_while_another_caller_has_heavy_ones_queued(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=64)
    heavy = calls.several(32, "Query", subject="A")
    threads = 1
    while calls.queue.give_way(heavy[threads - 1]) is not None:
        threads += 1
    assert threads < MOST_LONG + 1, "a thread is left for others"
    for _ in range(3):
        light, runs = calls.come("Query", subject="B")
        assert runs
        assert calls.serve(light) is None
    assert calls.queue.loads()["Query"] == MethodLoad(threads, 32 - threads)


def test_an_identity_may_have_as_many_calls_as_are_left_for_others(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=7)
    calls.several(4, subject="A")
    assert rule_of(calls, subject="A") == "waiting"
    calls.several(2, subject="B")
    assert rule_of(calls, subject="B") == "waiting"
    calls.several(1, subject="C")
    calls.several(1, subject="")
    assert rule_of(calls, subject="D") == "waiting"


def test_above_the_most_the_next_is_refused_and_no_other_method(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=2)
    calls.several(3)
    assert rule_of(calls) == "waiting"
    calls.come("B")
    assert calls.queue.loads() == {"A": MethodLoad(1, 2), "B": MethodLoad(0, 1)}


def test_a_call_that_has_computed_comes_before_others(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    first, second, third = calls.several(3)
    assert calls.queue.turn_over(first) is second
    assert calls.queue.enter(first) is None, "its next turn"
    assert calls.serve(second) is first
    assert calls.serve(first) is third


def test_a_call_that_waits_for_a_model_counts_and_takes_no_place(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, waiting=1)
    (waits,) = calls.several(1)
    assert calls.queue.turn_over(waits) is None
    assert calls.come()[1]
    assert rule_of(calls) == "waiting"


def test_a_call_that_would_miss_its_deadline_is_refused_when_it_has_to_wait(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    calls.learn(1.0)
    assert rule_of(calls, deadline=clock.now + 1.99) == "deadline"
    calls.come(deadline=clock.now + 2.01)
    assert rule_of(calls, deadline=clock.now + 2.99) == "deadline"
    calls.come(deadline=clock.now + 3.01)


def test_a_free_place_lets_every_call_try(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    last = calls.learn(1.0)
    calls.queue.turn_over(last)
    assert calls.come(deadline=clock.now + 0.01)[1]


def test_nothing_is_refused_for_its_deadline_while_no_time_is_known(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    first, second = calls.several(2)
    assert calls.serve(first, 1.0) is second
    calls.several(20, deadline=clock.now + 0.001)


def test_while_few_times_are_known_the_quickest_counts(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    call, *waiting = calls.several(KNOWN_AFTER - 1)
    for following, seconds in zip(waiting, (9.0, 1.0, 5.0, 2.0, 3.0, 4.0), strict=True):
        assert calls.serve(call, seconds) is following
        call = following
    assert rule_of(calls, deadline=clock.now + 1.99) == "deadline"
    calls.come(deadline=clock.now + 2.01)


def test_a_call_that_is_cut_short_confirms_the_time_of_the_first(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    first, second, third, _ = calls.several(4)
    assert calls.serve(first, 1.0) is second
    assert calls.queue.turn_over(second) is third
    calls.give_up(second, DeadlineError())
    assert rule_of(calls, deadline=clock.now + 2.99) == "deadline"
    calls.come(deadline=clock.now + 3.01)


@pytest.mark.parametrize("service_seconds", [0.01, 0.2, 0.3, 0.5, 0.9])
def test_a_flood_is_answered_however_long_its_calls_take(
    clock: Clock, stack: ExitStack, service_seconds: float
) -> None:
    """Calls come ten times as fast as they can be answered, and each has 2 s. None is known when the flood begins."""
    calls = Calls(clock, stack)
    end, due, answered = clock.now + 60 * service_seconds, clock.now, 0
    running: QueuedCall | None = None
    work_ends = 0.0
    while clock.now < end:
        if running is None or due <= work_ends:
            clock.now, due = due, due + service_seconds / 10
            with suppress(LimitError):
                call, runs = calls.come(deadline=clock.now + 2.0)
                if runs:
                    running, work_ends = call, min(clock.now + service_seconds, call.deadline)
            continue
        clock.now = work_ends
        is_answered = running.turn_began + service_seconds <= running.deadline
        answered += is_answered
        following = calls.queue.turn_over(running)
        calls.give_up(running, None if is_answered else DeadlineError())
        while following is not None and following.refusal is not None:
            refused, following = following, calls.queue.turn_over(following)
            calls.give_up(refused)
        running = following
        if running is not None:
            work_ends = min(clock.now + service_seconds, running.deadline)
    assert answered >= 60 * 0.75


def test_a_call_whose_turn_comes_too_late_is_not_worked_on(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    running = calls.learn(1.0)
    (expired,) = calls.several(1, deadline=clock.now + 2.5)
    (hopeless,) = calls.several(1, deadline=clock.now + 3.5)
    (good,) = calls.several(1)
    assert calls.serve(running, 3.0) is expired
    assert isinstance(expired.refusal, DeadlineError)
    assert calls.serve(expired) is hopeless
    assert cast("LimitError", hopeless.refusal).metadata["rule"] == "deadline"
    assert calls.serve(hopeless) is good
    assert good.refusal is None
    assert rule_of(calls, deadline=clock.now + 1.5) == "deadline", "refused calls do not count as quick ones"


def test_a_call_that_is_cut_short_does_not_count_as_a_quick_one(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    running = calls.learn(1.0)
    waiting = calls.several(20)
    for following in waiting:
        clock.now += 0.1
        assert calls.queue.turn_over(running) is following
        calls.give_up(running, DeadlineError())
        running = following
    assert rule_of(calls, deadline=clock.now + 1.5) == "deadline"


def test_a_wait_that_grows_counts_before_the_slow_calls_have_ended(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    calls.learn(0.1)
    calls.come(deadline=clock.now + 5)
    clock.now += 4
    assert rule_of(calls, deadline=clock.now + 4) == "deadline"
    calls.come(deadline=clock.now + 5)


def test_a_call_that_ends_while_it_waits_leaves_the_queue(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    running, waiting, resumed = calls.several(3)
    calls.give_up(waiting)
    assert calls.queue.turn_over(running) is resumed
    assert calls.queue.enter(running) is None
    calls.give_up(running)
    assert calls.serve(resumed) is None
    assert calls.queue.enter(running) is None, "it has ended, and does not come back"
    assert calls.come()[1]


def test_as_many_long_calls_as_allowed_give_their_place_away(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack)
    (running,) = calls.several(1, "0")
    others = [calls.several(1, str(number))[0] for number in range(1, MOST_LONG + 2)]
    for other in others[:-1]:
        assert calls.queue.give_way(running) is other
        running = other
    assert calls.queue.give_way(running) is None
    assert calls.serve(running) is others[-1]


def test_several_places_compute_side_by_side(clock: Clock, stack: ExitStack) -> None:
    calls = Calls(clock, stack, places=2)
    first, second, third = calls.come(), calls.come("B"), calls.come()
    assert [first[1], second[1], third[1]] == [True, True, False]
    assert calls.serve(first[0]) is third[0]
    assert calls.serve(third[0]) is None
    assert calls.come("B")[1]
    assert not calls.come("B")[1]
