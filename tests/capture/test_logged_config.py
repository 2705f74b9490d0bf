from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assignment_api.plugins import config_sources
from assignor_lab.capture.logs.import_log import import_log
from tests.capture.captured_logs import CAPTURES, LEADER_OF_TAGGED, documents, refuse, text_of

VALUES = """\
\tacceptable.recovery.lag = 100
\tapplication.id = {application}
\tapplication.server = 127.0.0.1:8083
\tbootstrap.servers = [127.0.0.1:19091]
\tbuffered.records.per.partition = 1000
\tclient.id = {client}
\tcommit.interval.ms = 2000
\tmax.warmup.replicas = {warmups}
\tnum.standby.replicas = 1
\tnum.stream.threads = 2
\tprobing.rebalance.interval.ms = 60000
\track.aware.assignment.non_overlap_cost = null
\track.aware.assignment.strategy = none
\track.aware.assignment.tags = [zone, cluster]
\track.aware.assignment.traffic_cost = null
\tupgrade.from = null
"""


def started(application: str = "tagged-classic", client: str = "i3", warmups: int = 2) -> str:
    values = VALUES.format(application=application, client=client, warmups=warmups)
    return f"[2026-11-21 05:42:17,000] INFO StreamsConfig values: \n{values} (org.apache.kafka.streams.StreamsConfig)\n"


def imported(tmp_path: Path, head: str, **options: Any) -> list[dict[str, Any]]:
    log = tmp_path / "app.log"
    log.write_text(head + text_of(LEADER_OF_TAGGED), encoding="utf-8")
    return list(import_log([log], on_problem=refuse, **options))


def test_a_log_that_begins_with_the_start_needs_no_configuration(tmp_path: Path) -> None:
    found = imported(tmp_path, started())

    assert [document["config"] for document in found] == [document["config"] for document in documents("tagged")]
    assert not any("config not in the log" in sentence for sentence in found[0]["assumptions"])


def test_json_logs_tell_it_too(tmp_path: Path) -> None:
    head = json.dumps(
        {"message": "StreamsConfig values: \n" + VALUES.format(application="tagged-classic", client="i3", warmups=7)}
    )

    assert imported(tmp_path, head + "\n")[0]["config"]["max.warmup.replicas"] == 7


def test_the_leaders_own_configuration_counts(tmp_path: Path) -> None:
    found = imported(tmp_path, started(warmups=5) + started(client="i1", warmups=9))

    assert found[0]["config"]["max.warmup.replicas"] == 5


def test_the_latest_start_counts(tmp_path: Path) -> None:
    found = imported(tmp_path, started(warmups=5) + started(warmups=6))

    assert found[0]["config"]["max.warmup.replicas"] == 6


def test_another_applications_configuration_does_not_count(tmp_path: Path) -> None:
    found = imported(tmp_path, started(application="other", warmups=9))

    assert found[0]["config"]["max.warmup.replicas"] == 2
    assert any("config not in the log" in sentence for sentence in found[0]["assumptions"])


def test_what_was_logged_goes_before_a_file_but_not_before_the_command_line(tmp_path: Path) -> None:
    file = config_sources(CAPTURES / "tagged" / "application.properties", ["max.warmup.replicas=3"], environ={})

    by_file = imported(tmp_path, started(warmups=4), config_layers=file.above[:1])[0]
    by_hand = imported(tmp_path, started(warmups=4), config_layers=file.above)[0]

    assert by_file["config"]["max.warmup.replicas"] == 4
    assert any("max.warmup.replicas is 4 in the log and 2 in --config" in said for said in by_file["assumptions"])
    assert by_hand["config"]["max.warmup.replicas"] == 3


def test_a_value_that_kafka_would_refuse_is_not_believed(tmp_path: Path) -> None:
    found = imported(tmp_path, started().replace("acceptable.recovery.lag = 100", "acceptable.recovery.lag = much"))

    assert found[0]["config"]["acceptable.recovery.lag"] == 10_000


CONSUMER = """\
\tclient.id = {client}-StreamThread-1-consumer
\tclient.rack = r1
\tgroup.id = {group}
\tgroup.instance.id = {instance}
\theartbeat.interval.ms = 1000
\tmax.poll.interval.ms = 60000
\tsasl.jaas.config = org.example.Login required password="secret";
\tsession.timeout.ms = {session}
"""


def consumer(client: str = "i3", group: str = "tagged-classic", instance: str = "null", session: int = 7000) -> str:
    values = CONSUMER.format(client=client, group=group, instance=instance, session=session)
    return f"[2026-11-21 05:42:18,000] INFO ConsumerConfig values: \n{values} (org.apache.kafka.ConsumerConfig)\n"


def test_the_consumers_configuration_has_the_settings_of_time(tmp_path: Path) -> None:
    found = imported(tmp_path, consumer())
    settings = {"heartbeat.interval.ms": 1000, "max.poll.interval.ms": 60000, "session.timeout.ms": 7000}
    assert all({**settings, "kafka.release": "4.3.1"} == document["settings"] for document in found)
    assert "secret" not in json.dumps(found)


def test_settings_of_other_groups_and_of_restore_consumers_are_left_out(tmp_path: Path) -> None:
    found = imported(tmp_path, consumer(group="null") + consumer(group="another"))
    assert found[0]["settings"] == {"kafka.release": "4.3.1"}


def test_members_that_differ_are_named_and_the_most_frequent_value_counts(tmp_path: Path) -> None:
    head = consumer("i1") + consumer("i2", session=9000) + consumer("i3", session=9000)
    (first, *_) = imported(tmp_path, head)
    assert first["settings"]["session.timeout.ms"] == 9000
    assert [each for each in first["assumptions"] if "session.timeout.ms" in each] == [
        "members differ in session.timeout.ms (7000, 9000): the most frequent one counts for all"
    ]


def test_the_command_line_replaces_logged_settings(tmp_path: Path) -> None:
    given = config_sources(None, ["session.timeout.ms=20000"], environ={}, start=CAPTURES).above
    found = imported(tmp_path, consumer(), config_layers=given)
    assert found[0]["settings"]["session.timeout.ms"] == 20_000
    assert found[0]["settings"]["max.poll.interval.ms"] == 60_000


def test_a_log_of_many_lines_has_the_settings_of_streams(tmp_path: Path) -> None:
    later = started().replace("\tprobing.rebalance", "\tprocessing.guarantee = exactly_once_v2\n\tprobing.rebalance")
    assert imported(tmp_path, later)[0]["settings"] == {
        "commit.interval.ms": 2000, "processing.guarantee": "exactly_once_v2", "kafka.release": "4.3.1",
    }  # fmt: skip
