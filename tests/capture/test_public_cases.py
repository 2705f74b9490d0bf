"""The public cases of ``tests/data/public/streams`` give their right values."""

from __future__ import annotations

from pathlib import Path

import pytest

from assignor_lab.capture.errors import NoDecisionError
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
    assert "reproduces 1 of 1" in run("history", log("02-docker-compose-2-7", name)).stdout


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
