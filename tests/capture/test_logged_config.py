"""The configuration that an instance logs when it starts."""

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
