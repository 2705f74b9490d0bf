"""``NAME@RELEASE``, and the table of releases."""

from __future__ import annotations

import pytest

from assignment_api.plugins import discover
from assignment_api.releases import (
    BEHAVIOURS,
    KNOWN_RELEASES,
    NEWEST,
    UnknownReleaseError,
    assignor_range,
    holds,
    read_release,
    release_named,
)


@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("sticky@4.4", "sticky_4_4"),
        ("sticky@4.4.0", "sticky_4_4"),
        ("sticky@4.3.1", "sticky@4.3"),
        ("sticky@3.8", "sticky@3.8"),
        ("sticky_4_4@4.4", "sticky_4_4"),
        ("assignor-lab:sticky@4.4", "sticky_4_4"),
        ("StickyTaskAssignor@4.4", "sticky_4_4"),
        ("high_availability@3.9", "high_availability"),
        ("default@4.4", "high_availability"),
    ],
)
def test_a_release_behind_the_name_selects_its_answers(selector: str, name: str) -> None:
    registry = discover()
    found = registry.task_assignor(selector)
    assert found.name == name
    assert registry.task_assignor(found.name).name == name
    assert registry.assignor_kinds(found.name)[0] == "task-assignor"


def test_a_brokers_assignor_has_releases_too() -> None:
    registry = discover()
    assert registry.group_assignor("group_sticky@4.4").name == "group_sticky_4_4"
    assert registry.group_assignor("group_sticky@4.3").name == "group_sticky@4.3"


def test_an_assignor_of_consumers_answers_alike_in_each_release() -> None:
    registry = discover()
    assert registry.partition_assignor("consumer-assignor", "sticky@4.4").name == "consumer_sticky"
    with pytest.raises(UnknownReleaseError, match=r"unknown release of Kafka '9\.9'"):
        registry.partition_assignor("consumer-assignor", "sticky@9.9")


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ("sticky@4.5", "unknown release of Kafka '4.5': did you mean 4.4"),
        ("sticky@3.7", "did you mean 3.8? Known: 3.8, 3.9, 4.0, 4.1, 4.2, 4.3, 4.4"),
        ("sticky@v4_3", "did you mean 4.3"),
        ("sticky@", "unknown release of Kafka ''"),
        ("sticky_4_4@4.3", "Kafka 4.3 has no assignor 'sticky_4_4' that the lab knows: 4.4 has it"),
    ],
)
def test_a_release_that_does_not_fit_is_named_with_the_known_ones(selector: str, message: str) -> None:
    with pytest.raises(UnknownReleaseError, match=message.replace("?", r"\?")):
        discover().task_assignor(selector)


def test_a_brokers_assignor_is_not_in_old_releases() -> None:
    with pytest.raises(UnknownReleaseError, match=r"Kafka 3\.9 has no assignor 'group_sticky'"):
        discover().group_assignor("group_sticky@3.9")


def test_the_ranges_of_an_assignor_follow_one_another() -> None:
    of_sticky = [each for each in BEHAVIOURS if each.of == "sticky"]
    for release in KNOWN_RELEASES:
        assert sum(each.covers(release) for each in of_sticky) == 1
    assert assignor_range("sticky", NEWEST) is of_sticky[-1]
    assert assignor_range("mine", NEWEST) is None
    assert len({each.key for each in BEHAVIOURS}) == len(BEHAVIOURS)


def test_a_release_of_a_log_need_not_be_known() -> None:
    shown = read_release("4.5.0-SNAPSHOT")
    assert shown is not None
    assert holds("sticky_4_4", shown)
    assert not holds("sticky", shown)
    assert read_release("2.8.1") is not None
    assert read_release("trunk") is None
    assert release_named("4.3.0") == release_named("4.3.1")
