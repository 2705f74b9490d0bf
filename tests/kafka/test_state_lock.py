"""Waiting for a directory that another thread has locked, with Kafka's back-off."""

from __future__ import annotations

from assignor_lab.kafka.state_lock import lock_retry_ms


def test_each_failure_doubles_the_wait_until_ten_seconds() -> None:
    waits = [lock_retry_ms(failures) for failures in (1, 2, 3, 4, 9)]
    # Drawn from 1 to 3 s, 2 to 6 s, 4 to 12 s, 5 to 15 s, anew in each loop: short ones win.
    assert waits == [1_500, 2_700, 5_000, 6_200, 6_200]


def test_a_thread_that_looks_more_often_waits_less() -> None:
    assert 1_000 < lock_retry_ms(1, poll_ms=10) < lock_retry_ms(1)
