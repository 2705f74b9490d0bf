"""The time of the balance, which probing rebalances reach long after a new instance runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.capture.public_cases import run, unpacked


@pytest.mark.slow
def test_scaling_out_names_the_time_of_the_balance_and_a_faster_setting(tmp_path: Path) -> None:
    file = unpacked("08-warm-up-tail", "s5-two.jsonl", tmp_path)
    plan = ("plan", str(file), "scale", "--to", "3", "--plays", "2", "--start-seconds", "2.2")

    found = json.loads(run(*plan, "--json").stdout)
    shown = " ".join(run(*plan).stdout.split())

    assert 11_900 < found["total"]["rest_seconds"]["median"] < 12_200
    many = found["variants"]["20 warm-ups"]["total"]
    assert many["rest_seconds"]["median"] < 1_300
    assert many["rebalances"]["median"] <= 6
    assert "the group is at rest after 120" in shown
    assert "(3 h 21 min)" in shown
