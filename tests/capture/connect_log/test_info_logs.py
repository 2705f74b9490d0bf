"""Histories of Connect groups from INFO logs, as operators publish them; neighbours of each kind."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.errors import AssignorLabError
from assignor_lab.cli.app import build_app
from tests.capture.connect_log.logs import lines
from tests.capture.connect_log.test_public_logs import CASES, MERGED, OF_DAY, text_of

INFO = [f"03-info-logs-of-all-workers/w{worker}.log" for worker in (1, 2, 3)]
LOOP = "01-config-mismatch-loop/worker.log"


def written(folder: Path, logs: dict[str, Iterable[str]]) -> list[str]:
    for name, content in logs.items():
        (folder / name).write_text("".join(content))
    return [str(folder / name) for name in logs]


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(build_app(), list(arguments))
    if isinstance(result.exception, AssignorLabError):
        # The face of the command prints it.
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def history(*logs: str) -> dict[str, Any]:
    result = CliRunner().invoke(build_app(), ["history", "--json", *logs])
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def info(tmp_path: Path, change: Callable[[str], str] = lambda line: line) -> list[str]:
    return written(tmp_path, {Path(case).name: map(change, text_of(case)) for case in INFO})


def events(document: dict[str, Any], *types: str) -> list[dict[str, Any]]:
    return [each for each in document["histories"][0]["events"] if each["type"] in types]


# --- all workers at INFO ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return history(*info(tmp_path_factory.mktemp("info")))


def test_info_logs_of_all_workers_give_each_generation_with_its_owners(recorded: dict[str, Any]) -> None:
    (group,) = recorded["histories"]
    assert [each["generation"] for each in group["decisions"]] == list(range(1, 33))
    assert [len(workers) for workers in group["jobs"][10:14]] == [3, 2, 3, 3]
    assert group["jobs"][9]["w1"] == ["gen-a", "gen-d", "gen-a-0", "gen-a-3", "gen-b-4", "gen-c-0", "gen-d-0", "sink-0"]
    assert group["jobs"][12]["w3"] == []


def test_info_logs_show_delays_revoked_jobs_and_returns(recorded: dict[str, Any]) -> None:
    begun, *_ = events(recorded, "delay_begun")
    ended, *_ = events(recorded, "delay_ended")
    waiting = ["gen-a-2", "gen-b-1", "gen-b-3", "gen-c", "gen-c-1", "gen-d-2", "sink-2"]
    assert (begun["jobs"], begun["delay_ms"], ended["jobs"], ended["waited_ms"]) == (waiting, 30_000, waiting, 30_029)
    revoked = {each["instance"]: each["jobs"] for each in events(recorded, "jobs_revoked")[:2]}
    assert revoked["w1"] == ["gen-c-0", "gen-d", "gen-d-0", "gen-d-2"]
    (thirteen,) = [each for each in recorded["histories"][0]["decisions"] if each["generation"] == 13]
    assert "jobs of lost workers wait 20.992 s" in thirteen["reason"]


def test_info_logs_show_times_without_an_owner(recorded: dict[str, Any]) -> None:
    unowned = {each["job"]: each for each in recorded["histories"][0]["unowned"]}
    assert unowned["gen-c"]["waits_ms"] == [30_029, 30_006]
    assert unowned["gen-b"] == {"job": "gen-b", "waits_ms": [], "open_ms": 3_007}
    assert "sink-0" not in unowned


def test_info_logs_are_decided_again_as_recorded(recorded: dict[str, Any]) -> None:
    assert (recorded["verified"]["decisions"], recorded["verified"]["reproduced"]) == (32, 32)


def test_every_command_reads_info_logs(tmp_path: Path) -> None:
    logs = info(tmp_path)
    code, printed = run("connect", "replay", *logs)
    assert (code, "connect-main: 32 generations, not compared" in printed) == (0, True)
    assert "generation 12, 2 workers, delay 30 s" in printed
    assert "no worker: gen-a-2, gen-b-1" in printed
    code, printed = run("check", *logs)
    assert (code, "32 rebalances, 1 finding" in printed) == (1, True)
    code, printed = run("import", *logs)
    assert (code, "1 decision imported" in printed) == (0, True)


@pytest.mark.parametrize(
    ("client", "names"),
    [("connect-1", ["w1", "w2", "w3"]), ("connect-\\2:8083", ["connect-1:8083", "connect-2:8083", "connect-3:8083"])],
)
def test_workers_have_the_names_of_their_logs_or_client_ids(tmp_path: Path, client: str, names: list[str]) -> None:
    logs = info(tmp_path, lambda line: re.sub(r"(clientId=|leader=')w(\d)", rf"\1{client}", line))
    (group,) = history(*logs)["histories"]
    assert sorted(group["jobs"][0]) == names
    assert len(group["decisions"]) == 32


def test_prefixes_of_tools_separate_workers(tmp_path: Path) -> None:
    merged = [
        f"[pod/connect-{Path(case).stem}/connect] " + re.sub(r"(?<=clientId=)w\d", "connect-1", line)
        for case in INFO
        for line in text_of(case)
    ]
    logs = written(tmp_path, {"all.log": sorted(merged, key=lambda line: line.split("] ", 1)[1])})
    assert len(history(*logs)["histories"][0]["decisions"]) == 32


def test_lines_that_nothing_separates_are_refused(tmp_path: Path) -> None:
    merged = [re.sub(r"(?<=clientId=)w\d", "connect-1", line) for case in INFO for line in text_of(case)]
    logs = written(tmp_path, {"all.log": sorted(merged)})
    for command in (["history"], ["connect", "replay"]):
        code, printed = run(*command, *logs)
        assert code == 2
        assert "the lines of several workers with client.id connect-1 are merged" in printed
        assert "kubectl logs --prefix" in printed


def test_member_ids_in_info_lines_separate_workers(tmp_path: Path) -> None:
    """Kafka 2.7 and later log the member id of each generation."""
    leaders = {
        (1, 1): "w1-75469849-e8d6-47cc-a4eb-9e3c117abfee", (2, 1): "w2-4da8c13b-4628-429e-b4a9-24c4aeff7859",
    }  # fmt: skip
    merged = []
    for worker, case in enumerate(INFO, 1):
        process = 0
        for line in text_of(case):
            process += "Herder starting" in line
            if found := re.search(r"at generation (\d+) ", line):
                member = leaders.get(
                    (worker, process), f"w{worker}-{worker}{process}111111-2222-4333-8444-555555555555"
                )
                synced = f"Successfully synced group in generation Generation{{generationId={found[1]}, memberId="
                merged.append(re.sub(r"(?<=\] )Joined group at.*", f"{synced}'{member}', protocol='sessioned'}}", line))
            merged.append(line)
    one = [re.sub(r"(?<=clientId=)w\d", "connect-1", line) for line in merged]
    logs = written(tmp_path, {"all.log": sorted(one, key=lambda line: line[:25])})
    (group,) = history(*logs)["histories"]
    assert [each["generation"] for each in group["decisions"]] == list(range(1, 33))
    assert [sorted(workers) for workers in group["jobs"]][:12] == [["w1", "w2", "w3"]] * 11 + [["w1", "w2"]]


def test_a_missing_leaders_log_is_named_and_nothing_is_invented(tmp_path: Path) -> None:
    (log,) = written(tmp_path, {"w3.log": text_of(INFO[2])})
    code, printed = run("history", log)
    assert code == 0
    assert "the log of the worker w2-4da8c13b-4628-429e-b4a9-24c4aeff7859 is missing" in printed
    assert "connect-main: 0 decisions" in printed


def test_a_history_of_debug_logs_of_one_leader_has_all_workers(tmp_path: Path) -> None:
    logs = written(tmp_path, {"w1.log": lines("sessioned", "w1")})
    (group,) = history(*logs)["histories"]
    assert max(len(workers) for workers in group["jobs"]) == 3


@pytest.mark.parametrize("cases", [OF_DAY, [MERGED]], ids=["time-of-day", "merged"])
def test_other_logs_give_the_same_history(tmp_path: Path, recorded: dict[str, Any], cases: list[str]) -> None:
    (group,) = history(*written(tmp_path, {Path(case).name: text_of(case) for case in cases}))["histories"]
    (expected,) = recorded["histories"]
    strip = re.compile(r"\Aconnect-(?=w\d)")
    jobs = [{strip.sub("", worker): held for worker, held in each.items()} for each in group["jobs"]]
    assert jobs == expected["jobs"]


def test_names_of_mirror_maker_are_read(tmp_path: Path) -> None:
    logs = info(tmp_path, lambda line: line.replace("gen-a", "src->dst.MirrorSourceConnector"))
    (group,) = history(*logs)["histories"]
    assert "src->dst.MirrorSourceConnector-0" in group["jobs"][9]["w1"]


def test_the_assignors_text_gives_both_workers() -> None:
    (group,) = history(str(CASES / "21-assignor-logger-only" / "worker.log.gz"))["histories"]
    assert group["jobs"] == [
        {"worker-1": ["sink-a", "sink-a-0", "sink-a-1"], "worker-2": ["sink-b", "sink-b-0", "sink-b-1"]}
    ]
    assert [each["generation"] for each in group["decisions"]] == [6]


def test_lines_of_kafka_2_3_have_no_protocol_version(tmp_path: Path, recorded: dict[str, Any]) -> None:
    logs = info(tmp_path, lambda line: line.replace(" with protocol version 2 and got", " and got"))
    assert history(*logs)["histories"][0]["jobs"] == recorded["histories"][0]["jobs"]


@pytest.mark.parametrize(("group", "generations"), [("eager", 11), ("conflict", 38)])
def test_other_groups_at_info_are_decided_again_as_recorded(tmp_path: Path, group: str, generations: int) -> None:
    logs = written(
        tmp_path,
        {f"{worker}.log": [line for line in lines(group, worker) if "DEBUG" not in line] for worker in ("w1", "w2")},
    )
    document = history(*logs)
    assert (document["verified"]["decisions"], document["verified"]["reproduced"]) == (generations, generations)


# --- config mismatch --------------------------------------------------------------------------------

WORDS = (
    "CONFIG MISMATCH LOOP: 5 generations, 305655834 to 305655838, in 16 ms, all with error=1",
    "leader connect-1-11111111-2222-4333-8444-555555555555 at http://192.0.2.21:8083/",
    "config offset 12",
    "two Connect clusters share one group.id",
    "config.storage.topic differs between workers",
    "Compare group.id, config.storage.topic and bootstrap.servers of all workers",
)


@pytest.mark.parametrize(
    ("command", "code"),
    [(("connect", "replay"), 0), (("history",), 0), (("check",), 1)],
    ids=["replay", "history", "check"],
)
def test_a_loop_of_config_mismatches_has_its_name(command: tuple[str, ...], code: int) -> None:
    ended, printed = run(*command, str(CASES / f"{LOOP}.gz"))
    assert ended == code
    for words in WORDS:
        assert words in printed


def test_a_loop_in_a_followers_log_has_its_name(tmp_path: Path) -> None:
    logs = written(tmp_path, {"w.log": [line for line in text_of(LOOP) if "Was selected" not in line]})
    assert WORDS[0] in run("connect", "replay", *logs)[1]


def test_a_leader_that_is_behind_for_a_moment_is_no_loop(tmp_path: Path) -> None:
    calm = [line for line in text_of(LOOP) if "3056558" not in line or "305655834" in line or "305655835" in line]
    logs = written(tmp_path, {"w.log": calm})
    code, printed = run("check", *logs)
    assert code == 0
    assert "LOOP" not in printed
    assert "assigned nothing in generations 305655834 to 305655835" in run("history", *logs)[1]


def test_rebalances_between_mismatches_are_still_shown(tmp_path: Path) -> None:
    logs = info(tmp_path, lambda line: line.replace("error=0", "error=1") if " generation 11 " in line else line)
    document = history(*logs)
    assert [each["generation"] for each in document["histories"][0]["decisions"]] == [*range(1, 11), *range(12, 33)]
    (mismatch,) = events(document, "config_mismatch")
    assert (mismatch["first"], mismatch["last"], mismatch["rounds"]) == (11, 11, 1)


# --- other events -----------------------------------------------------------------------------------


def test_departures_and_states_of_connectors_are_events(tmp_path: Path) -> None:
    head = "[2026-11-21 04:13:45,000] INFO [Worker clientId=w1, groupId=connect-main] "
    member = "w1-75469849-e8d6-47cc-a4eb-9e3c117abfee"
    more = [
        f"{head}Setting connector gen-a state to PAUSED (org.apache.kafka.connect.runtime.Worker)\n",
        f"{head}Setting connector gen-a state to STARTED (org.apache.kafka.connect.runtime.Worker)\n",
        f"{head}Member {member} sending LeaveGroup request to coordinator 127.0.0.1:19092 (id: 1 rack: null) due to "
        "worker poll timeout has expired. (org.apache.kafka.connect.runtime.distributed.WorkerCoordinator)\n",
        f"{head}Member {member} sending LeaveGroup request to coordinator 127.0.0.1:19092 (id: 1 rack: null) due to "
        "the consumer is being closed (org.apache.kafka.connect.runtime.distributed.WorkerCoordinator)\n",
    ]
    logs = written(tmp_path, {"w1.log": [*text_of(INFO[0])[:12], *more, *text_of(INFO[0])[12:]]})
    logs += written(tmp_path, {Path(case).name: text_of(case) for case in INFO[1:]})
    found = events(history(*logs), "connector_paused", "connector_resumed", "poll_timed_out", "member_left")
    assert [each["type"] for each in found] == [
        "connector_paused",
        "connector_resumed",
        "poll_timed_out",
        "member_left",
    ]
    assert (found[3]["instance"], found[3]["reason"]) == ("w1", "consumer is being closed")


def test_gzip_and_json_lines_are_read(tmp_path: Path) -> None:
    for case in INFO:
        name = Path(case).stem
        with gzip.open(tmp_path / f"{name}.log.gz", "wt") as log:
            for line in text_of(case):
                log.write(
                    json.dumps({"@timestamp": f"{line[1:11]}T{line[12:20]}.{line[21:24]}Z", "message": line[26:]})
                )
                log.write("\n")
    logs = sorted(str(path) for path in tmp_path.iterdir())
    assert len(history(*logs)["histories"][0]["decisions"]) == 32
