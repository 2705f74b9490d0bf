"""What the garbage collector is told, and that it is told what it was again."""

from __future__ import annotations

import gc

import pytest

from assignor_lab.runtime.garbage import seldom_collected


def test_the_collector_looks_seldom_and_then_as_often_as_before() -> None:
    usual = gc.get_threshold()
    with seldom_collected():
        assert gc.get_threshold()[0] > 10 * usual[0]
        with seldom_collected():
            pass
        assert gc.get_threshold() != usual
    assert gc.get_threshold() == usual


def test_and_so_after_a_failure() -> None:
    usual = gc.get_threshold()
    with pytest.raises(ZeroDivisionError), seldom_collected():
        raise ZeroDivisionError
    assert gc.get_threshold() == usual
