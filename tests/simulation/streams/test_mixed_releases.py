"""A group of two releases: the release of the leader decides."""

from __future__ import annotations

from assignment_api import ApplicationMetadata
from assignment_api.plugins import discover
from assignment_api.releases import KafkaRelease
from assignor_lab.groups.streams.leading import leading_assignor
from assignor_lab.scenarios import scenario_from_document
from assignor_lab.scenarios.scenario import Scenario
from assignor_lab.simulation.streams.leading import LeaderAnswer
from assignor_lab.simulation.streams.simulate import simulate
from tests.builtin_assignors.golden import GOLDEN_4_4, scenarios
from tests.simulation.streams.episodes import episode, happens, started


class Recording:
    """The default assignor, with the release of the leader of each decision."""

    def __init__(self) -> None:
        self._leading = leading_assignor(discover(), "sticky", {})
        self.releases: list[str | None] = []

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        self.releases.append(None if release is None else release.line)
        return self._leading.assign(application, release)


def test_an_instance_decides_by_its_release_while_it_leads() -> None:
    events = [started("a", threads=1), happens("start", "b", 20_000, release="4.4.0"), happens("stop", "a", 60_000)]
    recording = Recording()
    simulate(episode(events), recording)
    assert recording.releases[0] is None
    assert recording.releases[-1] == "4.4"


def test_the_leaders_release_replaces_that_of_the_configuration() -> None:
    scenario: Scenario = next(each for each in scenarios(GOLDEN_4_4 / "unequal.scenarios.jsonl.gz"))
    application = scenario_from_document(scenario.document, scenario.place).application
    older = leading_assignor(discover(), "sticky", {"kafka.release": "4.3.1"})
    plain = older.assign(application).assignment
    newer = older.assign(application, KafkaRelease(4, 4)).assignment
    fixed = leading_assignor(discover(), "sticky_4_4", {}).assign(application).assignment
    assert newer == fixed
    assert newer != plain
