"""The public cases of ``tests/data/public/streams`` give their right values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignor_lab.capture.errors import NoDecisionError
from assignor_lab.capture.histories.past import read_past
from assignor_lab.capture.logs.topology_file import described_topology
from tests.capture.public_cases import decisions, figures, log, run


@pytest.mark.parametrize("name", ["datadog.csv", "datadog-oldest-first.csv"])
def test_a_table_in_either_order_has_the_decisions_of_one_group(name: str) -> None:
    found, problems = decisions(log("06-csv-export", name))
    plain, _ = decisions(log("05-poll-timeout", "node-a.log"))

    assert list(map(figures, found)) == list(map(figures, plain))
    assert {figures(each)[0] for each in found} == {"orders"}
    assert not problems
    assert "2 were taken over" in run("history", log("06-csv-export", name)).stdout


@pytest.mark.parametrize("name", ["compose.log", "readme-indented.log"])
def test_a_log_of_docker_compose_has_its_decision(name: str) -> None:
    found, problems = decisions(log("02-docker-compose-2-7", name))

    assert [figures(each)[:3] for each in found] == [("smsFilter-applicationId", 3, 1)]
    assert found[0]["tasks"][0]["stateful"] is True
    assert [each["time_ms"] for each in found[0]["source"]["done"] if each["type"] == "begun"] == [1_645_887_224_211]
    assert not problems
    assert "1 of 1 reproduced" in run("history", log("02-docker-compose-2-7", name)).stdout


def test_client_ids_with_blanks_and_brackets_stay_whole() -> None:
    found, problems = decisions(log("10-follower-log-named-client", "odd.log"))

    assert [figures(each)[1] for each in found] == [10, 11, 12, 13]
    assert any("shop (blue) 2-StreamThread-1" in name for name in found[0]["clients"][1]["consumers"])
    assert not problems


def test_a_followers_log_needs_the_logs_of_all() -> None:
    with pytest.raises(NoDecisionError, match="give the logs of all"):
        decisions(log("10-follower-log-named-client", "follower.log"))


def test_a_message_of_an_old_release_is_named_as_such() -> None:
    with pytest.raises(NoDecisionError) as caught:
        decisions(log("03-kafka-2-0-old-message", "bare.log"))

    message = str(caught.value)
    assert "a message of Kafka before 2.6 (known range 2.6 to 4.3)" in message
    assert not any(words in message for words in ("garbled", "cut off", "ssigned tasks'", "the whole log"))


def test_words_of_an_assignment_in_another_message_are_no_problem() -> None:
    found, problems = decisions(log("05-poll-timeout", "node-a.log"), log("05-poll-timeout", "node-b.log"))

    assert [figures(each)[1] for each in found] == [10, 11, 12, 13]
    assert not problems


@pytest.mark.parametrize("name", ["t01-plain", "t02-javadoc", "t04-container", "t14-quoted", "t17-twice"])
def test_a_description_has_any_prefix_and_may_stand_twice(name: str) -> None:
    found = described_topology(Path(log("07-topology-with-prefixes", f"{name}.txt")))

    assert list(found.subtopologies) == [(None, 0), (None, 2)]
    first, second = found.subtopologies.values()
    assert (first.topics, first.stores) == (("trades",), ())
    assert second.topics == ("KSTREAM-TOTABLE-0000000009-repartition",)
    assert [store.name for store in second.stores] == ["prices-table"]


# --- causes ---------------------------------------------------------------------------------------------


def events(*files: str) -> list[tuple[str, int, str]]:
    """Type, time and sentence of each event that lines name."""
    found = [event for _, event in read_past(files).events]
    return [(each.type, each.at.latest_ms, each.sentence) for each in found]


def findings(*files: str) -> tuple[list[str], int]:
    result = run("check", *files, "--json")
    groups = json.loads(result.stdout)["groups"]
    return [finding["rule"] for group in groups for finding in group["findings"]], result.exit_code


def test_a_dead_thread_is_the_reason_of_the_long_rebalance() -> None:
    file = log("01-ksqldb-thread-replaced", "ksqldb.log")
    instance = "_ksql-prod_query_CSAS_METERS_3-11111111-12f2-43b6-a31c-1d8afb59e9a6"

    died, begun = events(file)

    assert died[:2] == ("thread_died", 1_637_659_210_612)
    assert died[2].startswith(f"thread 1 of {instance} died: RecordTooLargeException: The message is 1048660 bytes")
    assert begun[:2] == ("rebalance_begun", 1_637_659_210_642)
    decision = json.loads(run("history", file, "--json").stdout)["histories"][0]["decisions"][0]
    assert (decision["generation"], decision["members"]) == (2, 4)
    assert decision["inferred_reason"].startswith(died[2])
    assert "the rebalance took 42 s, about session.timeout.ms" in decision["inferred_reason"]
    assert findings(file) == (["dead thread"], 1)


def test_a_wrong_number_of_partitions_is_a_failed_assignment() -> None:
    file = log("04-internal-topic-partitions", "app.log")

    with pytest.raises(NoDecisionError) as caught:
        decisions(file)
    failed, closed = events(file)

    words = (
        "internal topic spring-orders-app-counts-repartition has 1 partition, 2 expected: an input topic was enlarged"
    )
    assert "FAILED at 2023-10-14 13:32:03.944Z, generation 4" in str(caught.value)
    assert words in str(caught.value)
    assert "DEBUG" not in str(caught.value)
    assert failed[:2] == ("decision_failed", 1_697_290_323_944)
    assert words in failed[2]
    assert closed[0] == "shutdown_requested"
    shown = run("history", file)
    assert "2023-10-14 13:32:03.944Z" in shown.stdout
    assert "DEBUG" not in shown.stdout + shown.stderr
    found, exit_code = findings(file)
    assert "failed assignment" in found
    assert exit_code == 1


def test_a_poll_timeout_is_the_reason_of_the_decision_after_it() -> None:
    files = log("05-poll-timeout", "node-a.log"), log("05-poll-timeout", "node-b.log")
    instance = "orders-b0000000-0000-4000-8000-000000000002"

    result = run("history", *files, "--json")
    decision = json.loads(result.stdout)["histories"][0]["decisions"][1]

    assert decision["generation"] == 11
    assert decision["inferred_reason"] == f"thread 1 of {instance} did not poll within max.poll.interval.ms and left"
    assert [each[0] for each in events(*files)] == ["poll_timed_out", "member_fenced"]
    assert findings(*files) == (["poll timeout"], 1)


def test_the_coordinators_reason_names_the_instance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "170")
    files = [log("05-poll-timeout", f"{name}.log") for name in ("node-a", "node-b", "broker")]

    shown = " ".join(run("history", *files).stdout.split())

    assert "Removing member orders-b0000000-0000-4000-8000-000000000002-StreamThread-1-consumer on LeaveGroup" in shown
    assert "client reason: consumer poll timeout has expired" in shown
    assert [each[0] for each in events(*files)] == ["poll_timed_out", "member_fenced"]


def test_quoted_lines_show_a_poll_timeout_of_each_thread() -> None:
    found = events(log("05-poll-timeout", "quoted.log"))

    assert [(kind, sentence.split()[1]) for kind, _, sentence in found] == [
        ("poll_timed_out", "1"),
        ("poll_timed_out", "2"),
    ]


def test_a_crash_loop_with_new_process_ids_is_a_finding() -> None:
    found, exit_code = findings(log("09-crash-loop-new-process-ids", "leader.log"))

    assert "departures of the group" in found
    assert exit_code == 1
