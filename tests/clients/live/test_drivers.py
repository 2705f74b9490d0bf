"""The strategies of franz-go, sarama and KafkaJS, built from their registries (``scripts/build-clients``), and of
librdkafka."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from assignor_lab.clients.driver import LibraryDriver
from assignor_lab.clients.leader import ClientLibrary
from assignor_lab.clients.sketches import GroupSketch, MemberSketch, drawn_sketch
from assignor_lab.clients.survey import surveyed
from tests.clients.test_survey import MIXED, java

pytestmark = pytest.mark.services

ROOT = Path(__file__).parents[3]
COMMANDS = (
    f"{ROOT}/build/clients/driver",
    f"node {ROOT}/client_drivers/node/driver.mjs {ROOT}/build/clients/node",
    f"{sys.executable} {ROOT}/client_drivers/python/librdkafka.py",
)


@pytest.fixture(scope="module")
def libraries() -> Iterator[dict[str, ClientLibrary]]:
    with ExitStack() as stack:
        drivers = [stack.enter_context(LibraryDriver(command)) for command in COMMANDS]
        yield {library.name: library for driver in drivers for library in driver.libraries}


def test_range_of_franz_go_answers_as_javas(libraries: dict[str, ClientLibrary]) -> None:
    found = surveyed(libraries["franz-go"], "range", java("range"), [drawn_sketch(0, number) for number in range(100)])
    assert (found.differing, found.findings) == (0, ())


def test_sarama_sorts_static_members_by_their_member_ids(libraries: dict[str, ClientLibrary]) -> None:
    found = surveyed(libraries["sarama"], "range", java("range"), [MIXED])
    assert [finding.promise for finding in found.findings] == ["static"]


def test_kafkajs_ignores_the_subscriptions_of_its_members(libraries: dict[str, ClientLibrary]) -> None:
    sketch = GroupSketch({"a": 1, "b": 1}, (MemberSketch("m2", None, ("a",)), MemberSketch("m1", None, ("b",))))
    found = surveyed(libraries["kafkajs"], "roundrobin", java("roundrobin"), [sketch])
    assert {finding.promise for finding in found.findings} == {"complete", "subscribed"}


def test_librdkafka_leads_a_group_of_the_drivers_broker(libraries: dict[str, ClientLibrary]) -> None:
    librdkafka = libraries["librdkafka"]
    assert list(librdkafka.strategies) == ["range", "roundrobin", "cooperative-sticky"]
    sketch = GroupSketch({"a": 4}, (MemberSketch("m1", None, ("a",)), MemberSketch("m2", None, ("a",))))
    for strategy in librdkafka.strategies:
        found = surveyed(librdkafka, strategy, java(strategy), [sketch, sketch])
        assert (found.differing, found.unstable, found.findings) == (0, 0, ())
