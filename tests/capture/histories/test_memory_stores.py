"""Sub-topologies with stores in memory, inferred from reported tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from assignor_lab.capture.edges.decision_input import DecisionInput
from assignor_lab.capture.edges.moments import DecisionMoment, Participant
from assignor_lab.capture.histories.episodes import past_scenarios
from assignor_lab.capture.histories.memory_stores import subtopologies_in_memory
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.verification.replays import past_episodes
from calibration.accuracy.foreign import SAMPLED, recorded_files

HOUR_MS = 3_600_000


def episode_of(name: str, pattern: str = "") -> Mapping[str, Any]:
    around = PastSurroundings((), on_problem=lambda _: None)
    with recorded_files(name, pattern) as files:
        (found,) = past_episodes([each for each in past_scenarios(files, around) if each.observed is not None])
    return found.document


def moment(time_ms: int, active: list[str], copies: list[str], placed: list[str], member: str = "m") -> DecisionMoment:
    """A decision of a group with the process ``p``, whose active tasks run, and which gets the tasks ``placed``."""
    client: dict[str, Any] = {
        "process_id": "p", "previous_active": active, "previous_standby": copies, "lags": dict.fromkeys(active, -2),
    }  # fmt: skip
    found = DecisionInput({"clients": [client], "tasks": []})
    participant = Participant("p", "p", frozenset({member}))
    return DecisionMoment(time_ms, None, None, "", "none", {"p": participant}, {"p": (placed, [])}, found)


RAN = moment(0, ["0_0", "0_1"], [], ["0_0"])


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        (moment(1_000, ["0_0"], [], ["0_0"]), {"0"}),
        # It reports the directory of the task that it gave away.
        (moment(1_000, ["0_0"], ["0_1"], ["0_0"]), set()),
        # It still has the task, without its state.
        (attrs.evolve(moment(1_000, ["0_0"], [], ["0_0"]), input=DecisionInput({"clients": [
            {"process_id": "p", "previous_active": ["0_0", "0_1"], "previous_standby": [], "lags": {}}
        ]})), set()),
        # Another process of the machine, or one that started again.
        (moment(1_000, ["0_0"], [], ["0_0"], member="other"), set()),
        # The cleaner may have deleted the directory.
        (moment(HOUR_MS, ["0_0"], [], ["0_0"]), set()),
    ],
)  # fmt: skip
def test_a_task_that_leaves_nothing_had_its_stores_in_memory(later: DecisionMoment, expected: set[str]) -> None:
    assert subtopologies_in_memory([RAN, later], 600_000) == expected


def test_one_report_of_a_directory_contradicts_stores_in_memory() -> None:
    kept = moment(2_000, ["0_0"], ["0_1"], ["0_0"])
    assert subtopologies_in_memory([RAN, moment(1_000, ["0_0"], [], ["0_0"]), kept], 600_000) == set()


@pytest.mark.parametrize(
    ("name", "pattern", "share"), [("versions/4.1.2", "", 1.0), ("groups/standbys", SAMPLED, None)]
)
def test_recorded_groups_show_their_stores(name: str, pattern: str, share: float | None) -> None:
    """The application of ``versions`` counts in memory, and that of ``groups`` in RocksDB."""
    episode = episode_of(name, pattern)
    assert {each.get("in_memory_share") for each in episode["changelogs"].values()} == {share}
    assert any("are in memory" in each for each in episode["assumptions"]) == (share is not None)


def test_a_past_ends_with_the_log_of_its_leader() -> None:
    """The leader stops 54 ms after its last decision, and no log shows a later one."""
    episode = episode_of("versions/4.1.2")
    assert episode["until_ms"] - episode["recorded"]["generations"][-1]["assignment_t_ms"] == 54
