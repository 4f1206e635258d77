"""How soon a worker is started again."""

from groundwire_server.rpc.supervision.restart_delay import (
    FIRST_DELAY_SECONDS,
    MAX_DELAY_SECONDS,
    YOUNG_SECONDS,
    RestartDelay,
)


def test_a_worker_that_lived_for_a_while_is_started_at_once() -> None:
    delay = RestartDelay()
    assert [delay.after(YOUNG_SECONDS), delay.after(3_600)] == [0, 0]


def test_a_worker_that_dies_young_again_and_again_waits_twice_as_long_each_time_up_to_a_bound() -> None:
    delay = RestartDelay()
    delays = [delay.after(1) for _ in range(12)]
    assert delays[:4] == [FIRST_DELAY_SECONDS * 2**power for power in range(4)]
    assert delays[-2:] == [MAX_DELAY_SECONDS, MAX_DELAY_SECONDS]


def test_a_longer_life_makes_up_for_the_short_ones_before_it() -> None:
    delay = RestartDelay()
    for _ in range(3):
        delay.after(1)
    assert delay.after(YOUNG_SECONDS) == 0
    assert delay.after(1) == FIRST_DELAY_SECONDS
