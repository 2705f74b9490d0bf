"""Bounds of a change: shares that are possible, or none."""

from __future__ import annotations

from assignor_lab.advising.choice import Change


def test_a_fall_by_more_than_everything_has_no_bounds() -> None:
    assert Change(100.0, 21.0, -79.0, -104.0, -53.0, 4).bounds is None


def test_a_wide_interval_says_nothing() -> None:
    assert Change(100.0, 287.0, 187.0, -89.0, 2_000.0, 4).bounds is None


def test_possible_bounds_are_shares() -> None:
    assert Change(100.0, 33.0, -67.0, -72.0, -60.0, 4).bounds == (-0.72, -0.6)


def test_two_days_bound_nothing() -> None:
    assert Change(100.0, 33.0, -67.0, -68.0, -66.0, 2).bounds is None
