"""An offline recording of a real broker's groups reproduces each decision. A live test does the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.capture.flight_recording import ASSIGNORS, GROUPS, answers, decisions, write_recording
from tests.capture.live.recorded_lives import CLASSIC, CONNECT, STREAMS

DECISIONS = {CLASSIC: 10, STREAMS: 5, CONNECT: 1}
#: Part of an answer that is compared with the observation.
PART = {CLASSIC: "assignment", STREAMS: "members", CONNECT: "rounds"}


@pytest.mark.parametrize("group", GROUPS)
def test_every_decision_of_a_recording_comes_out_again(group: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "past", group)
    documents = decisions(tmp_path / "past")
    found = answers(ASSIGNORS[group], documents, tmp_path)
    assert len(documents) == DECISIONS[group]
    assert [each[PART[group]] for each in found] == [each["observed"][PART[group]] for each in documents]


def test_racks_of_the_recording_decide(tmp_path: Path) -> None:
    write_recording(tmp_path / "past", CLASSIC)
    (tmp_path / "past" / "racks.toml").unlink()
    documents = decisions(tmp_path / "past")
    found = answers(ASSIGNORS[CLASSIC], documents, tmp_path)
    assert [each["assignment"] for each in found] != [each["observed"]["assignment"] for each in documents]
