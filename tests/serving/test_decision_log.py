"""The log of decisions: requests and outcomes, in a bounded folder."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from assignor_lab.scenarios import read_scenarios
from assignor_lab.scenarios.scenario import Scenario
from assignor_lab.serving.deciding import warm_up_state
from assignor_lab.serving.decision_log import MAX_HELD, PARTS, DecisionLog
from assignor_lab.serving.errors import ServingError
from tests.serving.conftest import line_of
from tests.serving.log_files import decisions, states

PROCESS = "00000000-0000-0000-0000-000000000001"


def state(identity: str = "shop-1") -> dict[str, Any]:
    return {**warm_up_state().document, "id": identity, "source": {"time_ms": 7, "group": "shop"}}


def answered(document: dict[str, Any]) -> dict[str, Any]:
    return line_of(Scenario(document["id"], "streams", document, warm_up_state().place, warm_up_state().content))


def decided(log: DecisionLog, identity: str, verdict: dict[str, Any] | None) -> None:
    document = state(identity)
    entry = log.asked(document, "shop")
    entry.result, entry.ms = answered(document), 1.5
    entry.verdict = verdict
    entry.write()


def test_a_decision_is_a_state_with_what_kafka_was_given(log: DecisionLog, tmp_path: Path) -> None:
    decided(log, "shop-1", {"by": "assignor", "ms": 2.25})
    (scenario,) = read_scenarios(tmp_path / "log" / "states-000001.jsonl")
    assert scenario.observed == {
        "assignment": {PROCESS: {"active": ["0_0"], "standby": []}}, "followup": False, "threads": None
    }  # fmt: skip
    (told,) = decisions(tmp_path / "log")
    assert (told["id"], told["group"], told["time_ms"]) == ("shop-1", "shop", 7)
    assert (told["by"], told["ms"], told["python_ms"]) == ("assignor", 2.25, 1.5)
    assert told["result"] == answered(state())


def test_a_fallbacks_decision_is_what_kafka_was_given(log: DecisionLog, tmp_path: Path) -> None:
    given: dict[str, Any] = {PROCESS: {"active": [], "standby": []}}
    verdict = {"by": "sticky", "cause": "INVALID", "message": "why", "assignment": given, "followup": True}
    decided(log, "shop-1", verdict)
    (kept,) = states(tmp_path / "log")
    assert kept["observed"] == {"assignment": given, "followup": True, "threads": None}
    (told,) = decisions(tmp_path / "log")
    assert (told["by"], told["cause"], told["message"]) == ("sticky", "INVALID", "why")


@pytest.mark.parametrize("verdict", [None, {}, {"by": "sticky"}, {"by": "sticky", "assignment": [1]}])
def test_what_nobody_said_is_not_observed(log: DecisionLog, tmp_path: Path, verdict: dict[str, Any] | None) -> None:
    decided(log, "shop-1", verdict)
    assert "observed" not in states(tmp_path / "log")[0]
    assert len(list(read_scenarios(tmp_path / "log" / "states-000001.jsonl"))) == 1


def test_what_is_being_decided_outlives_the_process(log: DecisionLog, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    log.asked(state("shop-9"), "shop")
    log.leave()
    (folder / "asking-000002.json").write_bytes(b'{"group": "sh')
    DecisionLog(folder, 2**20, pytest.fail).close()
    assert [each["id"] for each in states(folder)] == ["shop-9"]
    assert [(each["result"], each["message"]) for each in decisions(folder)] == [
        (None, "the process that served it ended before it was decided")
    ]
    assert not list(folder.glob("asking-*"))


def test_what_was_being_decided_is_completed_by_its_application(log: DecisionLog, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    log.asked(state("shop-9"), "shop")
    log.leave()
    after = DecisionLog(folder, 2**20, pytest.fail)
    after.missed(state("shop-9"), "shop", {"by": "sticky", "cause": "BROKEN_OFF", "message": "it broke off"})
    after.close()
    assert [(each["id"], each["cause"]) for each in decisions(folder)] == [("shop-9", "BROKEN_OFF")]
    assert not list(folder.glob("asking-*"))


def test_an_answer_that_came_too_late_waits_for_what_became_of_it(log: DecisionLog, tmp_path: Path) -> None:
    folder = tmp_path / "log"
    entry = log.asked(state(), "shop")
    entry.result = answered(state())
    entry.close()
    assert decisions(folder) == []
    log.missed(state(), "shop", {"by": "previous", "cause": "DEADLINE"})
    (told,) = decisions(folder)
    assert (told["by"], told["result"]) == ("previous", answered(state()))
    log.close()
    assert len(decisions(folder)) == 1


def test_what_could_not_be_asked_is_a_decision(log: DecisionLog, tmp_path: Path) -> None:
    given: dict[str, Any] = {PROCESS: {"active": ["0_0"], "standby": []}}
    log.missed(state(), "shop", {"by": "sticky", "cause": "CONNECT", "assignment": given, "followup": False})
    (told,) = decisions(tmp_path / "log")
    assert (told["cause"], told["result"]) == ("CONNECT", None)
    assert states(tmp_path / "log")[0]["observed"]["assignment"] == given


def test_few_decisions_wait(log: DecisionLog, tmp_path: Path) -> None:
    for number in range(MAX_HELD + 3):
        log.asked(state(f"shop-{number}"), "shop").close()
    assert [each["id"] for each in decisions(tmp_path / "log")] == ["shop-0", "shop-1", "shop-2"]
    log.close()
    assert len(decisions(tmp_path / "log")) == MAX_HELD + 3


def test_an_older_log_is_gone_on_with(log: DecisionLog, tmp_path: Path) -> None:
    decided(log, "shop-1", None)
    log.leave()
    after = DecisionLog(tmp_path / "log", 2**20, pytest.fail)
    decided(after, "shop-2", None)
    after.close()
    assert [each["id"] for each in states(tmp_path / "log")] == ["shop-1", "shop-2"]


def test_a_full_folder_loses_its_oldest_decisions(tmp_path: Path) -> None:
    folder, most = tmp_path / "log", 20_000
    log = DecisionLog(folder, most, pytest.fail)
    for number in range(200):
        decided(log, f"shop-{number}", {"by": "assignor"})
    log.close()
    kept = [each["id"] for each in states(folder)]
    assert kept == [each["id"] for each in decisions(folder)]
    assert kept == [f"shop-{number}" for number in range(200 - len(kept), 200)]
    assert len(kept) > PARTS
    assert sum(path.stat().st_size for path in folder.iterdir()) <= most + most // PARTS


def test_a_disk_that_refuses_stops_no_decision_and_is_told_once(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "log"
    log = DecisionLog(folder, 2**20, said.append)
    shutil.rmtree(folder)
    for number in range(3):
        decided(log, f"shop-{number}", None)
    log.close()
    assert len(said) == 1
    assert "decisions are not logged" in said[0]


def test_a_folder_has_one_process_at_a_time(log: DecisionLog, tmp_path: Path) -> None:
    with pytest.raises(ServingError, match="another process keeps its decisions there"):
        DecisionLog(tmp_path / "log", 2**20, pytest.fail)
    log.close()
    DecisionLog(tmp_path / "log", 2**20, pytest.fail).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("a file")
    with pytest.raises(Exception, match="log: cannot be written"):
        DecisionLog(tmp_path / "log", 2**20, pytest.fail)
    assert (tmp_path / "log").read_text() == "a file"
