"""Settings of the garbage collector, and their restoration."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from assignor_lab.runtime.garbage import seldom_collected


@pytest.fixture(autouse=True)
def kept_thresholds() -> Iterator[None]:
    usual = gc.get_threshold()
    yield
    gc.set_threshold(*usual)


def test_the_collector_looks_seldom_and_then_as_often_as_before() -> None:
    gc.set_threshold(700, 10, 10)
    with seldom_collected():
        assert gc.get_threshold()[0] > 10 * 700
        with seldom_collected():
            pass
        assert gc.get_threshold()[0] > 10 * 700
    assert gc.get_threshold() == (700, 10, 10)


def test_a_collector_that_looks_more_seldom_is_left_so() -> None:
    gc.set_threshold(1_000_000, 10, 1_000)
    with seldom_collected():
        assert gc.get_threshold() == (1_000_000, 50, 1_000)


def test_and_so_after_a_failure() -> None:
    usual = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), seldom_collected():
        raise ZeroDivisionError
    assert gc.get_threshold() == usual
