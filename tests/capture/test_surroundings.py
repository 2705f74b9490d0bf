"""Data of logs besides the decisions: the coordinator's reasons, starts and stops, racks of consumers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.histories.history import read_histories
from assignor_lab.capture.histories.history_episode import history_episode
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.captured_logs import CAPTURES, LEADER_OF_TAGGED, logs, refuse, text_of
from tests.capture.histories.pasts import done_to, timeline_of

COORDINATOR = CAPTURES / "tagged" / "coordinator.broker.gz"


def imported(*files: Path | str, **options: Any) -> list[dict[str, Any]]:
    return list(import_log(files, on_problem=options.pop("on_problem", refuse), **options))


@pytest.mark.parametrize("is_first", [True, False])
def test_the_coordinators_log_tells_why_and_since_when_each_rebalance_went_on(is_first: bool) -> None:
    files = [COORDINATOR, *logs("tagged")] if is_first else [*logs("tagged"), COORDINATOR]
    recorded = timeline_of("tagged")["recorded"]["generations"]
    begin = timeline_of("tagged")["initial"]["source"]["time_ms"]
    found = imported(*files)
    assert [each["source"]["prepared_ms"] - begin for each in found] == [each["t_ms"] for each in recorded]
    reasons = [each["source"]["reason"] for each in found]
    assert reasons[0].startswith("Adding new member i3-StreamThread-1-consumer-e660fcd8")
    assert reasons[1].endswith("re-joining group during Stable; client reason: cached metadata has changed")
    assert reasons[21] == (
        "removing member i4-StreamThread-1-consumer-083ebdd0-3aa8-4c42-adef-8990bd492320 on heartbeat expiration."
    )


def test_reasons_of_older_coordinators_are_read(tmp_path: Path) -> None:
    log = tmp_path / "broker.log"
    log.write_text(
        "[2026-11-21 05:42:20,132] INFO [GroupCoordinator 0]: Preparing to rebalance group tagged-classic in state "
        "PreparingRebalance with old generation 0 (__consumer_offsets-12) (reason: Adding new member x; client reason: "
        "not provided (kafka)) (kafka.coordinator.group.GroupCoordinator)\n"
    )
    assert imported(*logs("tagged"), log)[0]["source"]["reason"] == (
        "Adding new member x; client reason: not provided (kafka)"
    )


def test_starts_and_stops_that_instances_logged_are_those_of_the_history() -> None:
    scenarios = [scenario_from_document(each, Place("log")) for each in imported(*logs("tagged"), COORDINATOR)]
    (history,) = read_histories(scenarios)
    found = done_to(history_episode(history, {"session_timeout_ms": 10_000}))
    really = done_to(timeline_of("tagged"))
    # A start takes a moment until its first line, and a kill logs nothing.
    for kind, who, at in found:
        nearest = min(abs(at - moment) for what, name, moment in really if (what, name) == (kind, who))
        assert nearest < (4_000 if kind == "crash" else 3_500)
    assert {(kind, who) for kind, who, _ in found if kind != "start"} >= {("crash", "i2"), ("stop", "i4")}


def test_a_file_that_says_nothing_of_rebalances_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other.log"
    other.write_text("nothing of the kind\n")
    told: list[str] = []
    imported(*logs("tagged"), other, on_problem=lambda problem: told.append(str(problem)))
    assert told == [
        f"{other}: no line in it is about a group's rebalances: is it the log of an instance of the application, or of "
        "the group's coordinator?"
    ]


def connect_log() -> Path:
    return Path(__file__).parents[1] / "data" / "captures" / "connect" / "sessioned" / "w1.log.gz"


def test_a_connect_workers_log_names_the_command_that_reads_it() -> None:
    with pytest.raises(NoDecisionError, match=r"lines are those of Connect workers: .*assignor connect replay"):
        imported(connect_log())


def test_a_connect_workers_log_among_others_is_named() -> None:
    told: list[str] = []
    beside = imported(*logs("tagged"), connect_log(), on_problem=lambda problem: told.append(str(problem)))
    assert told == [
        f"{connect_log()}: it is the log of a Connect worker: compare its decisions with `assignor connect replay`"
    ]
    assert [each["id"] for each in beside] == [each["id"] for each in imported(*logs("tagged"))]


def test_a_coordinators_log_alone_says_what_it_goes_with() -> None:
    with pytest.raises(NoDecisionError) as refused:
        imported(COORDINATOR)
    assert "have times and reasons of the rebalances of 'tagged-classic', but no assignment" in str(refused.value)
    assert "or with its folder of assignor record" in str(refused.value)


def test_a_coordinators_log_of_another_group_is_named() -> None:
    told: list[str] = []
    imported(*logs("warm"), COORDINATOR, on_problem=lambda problem: told.append(str(problem)))
    assert len(told) == 1
    assert "are about tagged-classic, and the decisions are those of warm-classic" in told[0]


def test_logs_of_the_streams_protocol_are_told_from_garbled_ones(tmp_path: Path) -> None:
    log = tmp_path / "i1.log"
    log.write_text(
        "[2026-11-21 04:49:14,374] INFO stream-client [i1] Streams rebalance protocol enabled (o.a.k.KafkaStreams)\n"
        "[2026-11-21 04:49:15,971] INFO [Consumer clientId=i1, groupId=g] Assigned tasks with local epoch 0 and group "
        "is not ready\n\tMember:  F3x\n"
    )
    with pytest.raises(NoDecisionError, match=r"speaks the streams protocol \(KIP-1071\).*assignor record"):
        imported(log)


# --- racks of consumers -------------------------------------------------------------------------------

DUMP = """\
[2026-11-21 05:42:17,000] INFO ConsumerConfig values:\x20
\tallow.auto.create.topics = false
\tclient.id = {client}-StreamThread-{thread}-consumer
\tclient.rack = {rack}
\tconnections.max.idle.ms = 540000
\tgroup.id = {group}
\tsession.timeout.ms = 10000
 (org.apache.kafka.clients.consumer.ConsumerConfig)
"""


def dumps(*clients: str, group: str = "tagged-classic") -> str:
    return "".join(
        DUMP.format(client=client, thread=thread, rack=f"r{client[1:]}", group=group)
        for client in clients
        for thread in (1, 2)
    )


def racks_of(document: dict[str, Any]) -> dict[str, str | None]:
    return {client["consumers"][0][:2]: client["rack"] for client in document["clients"]}


def test_client_racks_are_those_of_the_consumers_configurations(tmp_path: Path) -> None:
    log = tmp_path / "i3.log"
    log.write_text(dumps("i1", "i2", "i3", "i4") + text_of(LEADER_OF_TAGGED))
    assert racks_of(imported(log)[2]) == {"i1": "r1", "i2": "r2", "i3": "r3", "i4": "r4"}


def test_racks_of_other_groups_and_of_clients_whose_names_begin_alike_are_not_taken(tmp_path: Path) -> None:
    log = tmp_path / "i3.log"
    log.write_text(dumps("i1", group="another") + dumps("i", "i2") + text_of(LEADER_OF_TAGGED))
    assert racks_of(imported(log)[2]) == {"i1": None, "i2": "r2", "i3": None, "i4": None}


def test_where_racks_decide_it_is_said_that_the_brokers_are_still_unknown(tmp_path: Path) -> None:
    log = tmp_path / "i1.log"
    text = text_of(CAPTURES / "orders-2" / "i1.log.gz")
    log.write_text(dumps("i1", "i2", "i3", "i4", group="orders-classic-2") + text)
    unknown = [each for each in imported(log)[2]["assumptions"] if each.startswith("racks unknown:")]
    assert len(unknown) == 1
    assert "those of the clients, but not the brokers'" in unknown[0]


# --- restored state of instances ---------------------------------------------------------------------------

LIVES = CAPTURES / "lives"


def test_stores_that_were_restored_stand_with_their_tasks_and_records() -> None:
    found = imported(LIVES / "c1.log.gz", LIVES / "c2.log.gz")
    restored = [each for document in found for each in document["source"].get("restored", ())]
    assert [(each["client"], each["task"], each["store"], each["records"]) for each in restored] == [
        ("c1", "1_2", "counts", 0), ("c1", "1_1", "counts", 0), ("c1", "1_0", "counts", 0), ("c2", "1_1", "counts", 27),
        ("c2", "1_2", "counts", 0), ("c2", "1_0", "counts", 0), ("c1", "1_1", "counts", 75),
    ]  # fmt: skip
    for document in found:
        scenario_from_document(document, Place("log"))


def test_what_was_restored_tells_of_changelogs_whose_ends_no_decision_shows() -> None:
    found = imported(LIVES / "c1.log.gz", LIVES / "c2.log.gz")
    for document in found:
        for client in document["clients"]:
            # All clients have copies of all tasks: no lag is that of a client without a copy.
            client["previous_standby"] = [task["id"] for task in document["tasks"] if task["logged"]]
            client["previous_active"] = []
            client["lags"] = dict.fromkeys(client["previous_standby"], 0)
            client["previous_by_consumer"] = None
    (history,) = read_histories(scenario_from_document(each, Place("log")) for each in found)
    episode = history_episode(history)
    told = episode["changelogs"]["1_1"]
    seconds = (1795375680312 - episode["initial"]["source"]["time_ms"]) / 1_000
    assert told["records"] + told["backlog_records"] + told["records_per_s"] * seconds == pytest.approx(75, abs=1)
    assert any(
        "of 1 task the size of the changelogs is known from restorations only" in each
        for each in episode["assumptions"]
    )
    for document in found:
        document["source"].pop("restored", None)
    (history,) = read_histories(scenario_from_document(each, Place("log")) for each in found)
    assert history_episode(history)["changelogs"] == {}


def test_a_store_of_which_no_line_says_whose_it_is_is_left_out(tmp_path: Path) -> None:
    text = text_of(LIVES / "c1.log.gz")
    log = tmp_path / "c1.log"
    log.write_text("".join(line for line in text.splitlines(keepends=True) if "completed restoration" not in line))
    assert not any("restored" in each["source"] for each in imported(log))


def test_a_restored_task_counts_without_lines_of_its_stores(tmp_path: Path) -> None:
    text = text_of(LIVES / "c1.log.gz")
    log = tmp_path / "c1.log"
    log.write_text("".join(line for line in text.splitlines(keepends=True) if "Finished restoring" not in line))
    restored = [each for document in imported(log) for each in document["source"].get("restored", ())]
    assert {(each["task"], each["store"], each["records"]) for each in restored[:3]} == {
        ("1_0", "", 0), ("1_1", "", 0), ("1_2", "", 0),
    }  # fmt: skip
