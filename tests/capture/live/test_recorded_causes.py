"""The program that records groups with causes in their logs alone still does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.event_recordings import shown
from tests.capture.live.recorded_causes import RecordedCauses

pytestmark = pytest.mark.services


def test_an_assignor_that_throws_is_named_by_the_log_of_its_instance(tmp_path: Path) -> None:
    lives = RecordedCauses(tmp_path)
    try:
        lives.live(tmp_path / "out", ("failing",))
    finally:
        lives.close()
    (group,) = shown("check", tmp_path / "out" / "failing" / "f1.log.gz")["groups"]
    found = {each["rule"]: each["sentence"] for each in group["findings"]}
    assert found["failed assignment"] == (
        "No assignment was made: the leader's assignor failed: no capacity is left (IllegalStateException)."
    )
