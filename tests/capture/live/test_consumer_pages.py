"""The how-to pages of plain consumers, on a real group: from the running consumers to a decision."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from tests.capture.live.recorded_consumers import CLASSIC, RecordedConsumers
from tests.capture.live.test_real_groups import commands_of, run
from tests.connect.real_kafka import START_S, until

pytestmark = pytest.mark.services

MEMBERS = ("c1", "c2", "c3")


class OneGroup(RecordedConsumers):
    """The group ``orders``: three consumers of Java with ``range``, of which one was restarted."""

    def live(self, follow_s: int = 0) -> None:
        self.start_broker()
        admin = KafkaAdminClient(bootstrap_servers=self.address)
        admin.create_topics([NewTopic("orders", 12, 1), NewTopic("payments", 6, 1)])
        admin.close()
        self._host("hosts", [*self._java("128m"), "PlainConsumers"])
        for name in MEMBERS:
            self._starts(name)
        until(lambda: self._taken() >= len(MEMBERS), "the consumers")
        time.sleep(3)
        self._command("hosts", "stop orders-c2")
        time.sleep(1)
        before = self._taken()
        self._starts("c2")
        until(lambda: self._taken() >= before + len(MEMBERS), "the restarted consumer")

    def _starts(self, name: str) -> None:
        self._command("hosts", f"start orders-{name} {self._settings('orders', name, dict(CLASSIC['range']))}")

    def _taken(self) -> int:
        return (self.directory / "hosts.out").read_text().count(" assigned ")


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OneGroup]:
    made = OneGroup(tmp_path_factory.mktemp("orders"), Path("unused"))
    try:
        made.live()
        yield made
    finally:
        made.close()


def done(words: list[str]) -> tuple[int, str]:
    """Exit code and output of a command; a scoring needs a process of its own."""
    if words[0] != "score":
        found: Any = run(*words)
        return found.exit_code, found.output
    program = [sys.executable, "-m", "assignor_lab.cli.main", *words]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("page", "codes", "shown"),
    [
        (
            "choose-assignment-strategy.md",
            [0, 0, 0, 0, 0],
            {2: "consumer_cooperative_sticky", 4: " cooperative-sticky "},
        ),
        ("move-to-consumer-protocol.md", [0, 0, 0, 0, 0], {1: "The move to the consumer protocol takes"}),
        ("static-membership.md", [0, 0, 0, 0, 0], {1: "orders-c2 joined", 3: " static ", 4: " static "}),
    ],
)
def test_a_page_leads_from_running_consumers_to_a_decision(
    group: OneGroup, page: str, codes: list[int], shown: dict[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    more = {"capture": ("--wait", f"{START_S:g}"), "plan": ("--plays", "6")}
    commands = list(commands_of(page, {"localhost:9092": group.address, "100": "4"}))
    found = [done([*words, *more.get(words[0], ())]) for words in commands]
    assert commands[0][0] in ("capture", "record")
    assert [code for code, _ in found] == codes, found
    for place, text in shown.items():
        assert text in found[place][1]
    for (_, output), words in zip(found, commands, strict=True):
        if words[0] == "plan":
            assert output.startswith("Decisions: 1 of 1 reproduced by consumer_range."), output
