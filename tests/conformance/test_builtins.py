"""Our built-ins pass the levels, except for Kafka's own violations, each listed with a minimal history."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from assignment_api.conformance import KINDS, Capabilities, Event, History, InProcessSubject, Level, Trial, conformance
from assignment_api.plugins import Registry, discover
from assignment_api.plugins.reserved import PARTITION_ASSIGNORS
from assignor_lab.clients.plugins import CLIENT_ASSIGNORS
from assignor_lab.conformance.known_kafka_behaviour import KNOWN_BEHAVIOURS, known_of


@pytest.fixture(scope="module")
def registry() -> Registry:
    return discover()


def found_in(registry: Registry, kind: str) -> list[Any]:
    of_kind: dict[str, Any] = {
        "streams": registry.task_assignors,
        "streams-group": registry.group_assignors,
        "connect": registry.connect_assignors,
        **{kind.removesuffix("-assignor"): partial(registry.partition_assignors, kind) for kind in PARTITION_ASSIGNORS},
    }
    # Strategies of other client libraries break rules by design: a survey of their faults is made of them.
    own = [each for each in of_kind[kind]() if each.distribution == "assignor-lab"]
    of_clients = {each.name for each in CLIENT_ASSIGNORS}
    return [each for each in own if each.name not in of_clients]


def trial_of(kind: str, found: Any) -> Trial:
    protocols = getattr(found.plugin, "protocols", ()) or ("sessioned",)
    protocol = "sessioned" if "sessioned" in protocols else protocols[0]
    subject = InProcessSubject(found.name, found.plugin.factory, KINDS[kind].answering)
    return Trial(KINDS[kind], subject, Capabilities(protocol=protocol))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_built_in_holds_every_level(registry: Registry, kind: str) -> None:
    for found in found_in(registry, kind):
        known = known_of(found.name, found.distribution)
        levels = [level for level in Level if level is not Level.BOUNDED]
        report = conformance(trial_of(kind, found), histories=40, known=known, levels=levels)
        assert report.is_conformant, "\n".join(each.text() for level in report.levels for each in level.failures)


@pytest.mark.parametrize("name", ["consumer_sticky", "consumer_cooperative_sticky"])
def test_the_sticky_assignors_take_a_partition_from_another_rack_in_every_rebalance(
    registry: Registry, name: str
) -> None:
    """Its smallest form: three members in two racks, and one topic of eight partitions."""
    minimal = History("consumer", ((8, 0),), (0, 0, 0), racks=2)
    found = next(each for each in found_in(registry, "consumer") if each.name == name)
    assert "at rest" in {each.rule for each in trial_of("consumer", found).broken(minimal)}


def test_only_built_ins_and_kafkas_own_classes_are_excused() -> None:
    assert known_of("legacy_sticky", "somebody-elses") == {}
    assert set(known_of("legacy_sticky", "assignor-lab")) == set(KNOWN_BEHAVIOURS["legacy_sticky"])
    own = "java:org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor@@4.3.1"
    assert known_of(own, None) == KNOWN_BEHAVIOURS["sticky"]
    assert known_of("java:com.example.StickyTaskAssignor@my.jar", None) == {}


@pytest.mark.parametrize("name", ["group_sticky", "group_sticky_4_4"])
def test_standbys_of_the_brokers_assignor_swing(registry: Registry, name: str) -> None:
    """KAFKA-21166, in its smallest form: two tasks with state, three processes with four members, one standby."""
    minimal = History("streams-group", ((2, 1),), (2, 1, 3, 1), standbys=1)
    found = next(each for each in found_in(registry, "streams-group") if each.name == name)
    assert "at rest" in {each.rule for each in trial_of("streams-group", found).broken(minimal)}


def test_two_targets_of_the_brokers_assignor_alternate_without_end(registry: Registry) -> None:
    """Kafka 4.3.1's class gave the same answers in 122 rebalances; that of 4.4.0 settles."""
    restless = History("streams-group", ((8, 1),), (2, 3, 3, 1, 3, 3, 2), standbys=2, events=(Event("join", 1),))
    rules = {
        name: {each.rule for each in trial_of("streams-group", registry.group_assignor(name)).broken(restless)}
        for name in ("group_sticky@4.3", "group_sticky", "group_sticky_4_4")
    }
    assert rules == {
        "group_sticky@4.3": {"at rest", "comes to rest"}, "group_sticky": {"at rest"}, "group_sticky_4_4": {"at rest"},
    }  # fmt: skip


def test_two_answers_of_the_released_sticky_assignor_alternate_without_end(registry: Registry) -> None:
    restless = History("streams", ((1, 0), (4, 0), (8, 1)), (1, 3, 1), racks=2, named=2, strategy=2)
    found = next(each for each in found_in(registry, "streams") if each.name == "legacy_sticky")
    assert {each.rule for each in trial_of("streams", found).broken(restless)} == {"at rest", "comes to rest"}


def test_a_group_without_state_settles_late_with_the_public_sticky_assignor(registry: Registry) -> None:
    events = (Event("join", 0, 2), Event("join", 0, 1), Event("fewer", 1))
    late = History("streams", ((13, 0), (12, 0)), (1, 2, 3, 2, 1), named=1, events=events)
    found = registry.task_assignor("sticky@4.3")
    assert {each.rule for each in trial_of("streams", found).broken(late)} == {"at rest", "comes to rest"}


def test_a_lost_connector_is_given_and_taken_back_in_one_answer(registry: Registry) -> None:
    """As in Kafka: two of four workers leave, one joins, and the delay is over."""
    events = (Event("leave"), Event("leave"), Event("join"))
    minimal = History("connect", ((1, 0), (1, 0), (2, 0)), (1, 1, 1, 1), delay_ms=300_000, events=events)
    found = next(each for each in found_in(registry, "connect") if each.name == "connect_incremental")
    assert [each.found for each in trial_of("connect", found).broken(minimal)] == [
        "w4 is to stop c1, which it does not have"
    ]


def test_a_new_leader_leads_in_repeated_calls_too(registry: Registry) -> None:
    """The assignor of Connect remembers lost jobs: only the same sequence of leaders has the same answers."""
    history = History("connect", ((5, 0),), (1, 1), delay_ms=300_000, events=(Event("leave"), Event("lead")))
    found = next(each for each in found_in(registry, "connect") if each.name == "connect_incremental")
    assert [each.rule for each in trial_of("connect", found).broken(history)] == []


def test_the_released_sticky_assignor_moves_tasks_at_rest(registry: Registry) -> None:
    """As in Kafka: six stateless tasks on two clients of one and three threads, without any event."""
    minimal = History("streams", ((3, 0), (3, 0)), (1, 3))
    found = next(each for each in found_in(registry, "streams") if each.name == "legacy_sticky")
    assert {each.rule for each in trial_of("streams", found).broken(minimal)} == {"at rest"}
