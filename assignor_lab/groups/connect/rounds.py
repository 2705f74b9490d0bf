"""The rounds of Connect histories, one after the other: those of a file, and those that follow from the answers."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from assignment_api.connect import Jobs
from assignment_api.plugins import ScenarioFamily
from assignor_lab.scenarios import Place, Scenario, scenario_from_document

__all__ = ["Rounds", "generated_rounds", "written_rounds"]

#: Yields the scenario that each round stands in, and is sent what each member runs after it, or ``None`` after a
#: failure. It ends with the last round.
Rounds = Generator[Scenario, Mapping[str, Jobs] | None, None]


def written_rounds(scenario: Scenario) -> Rounds:
    """The rounds of a scenario, whatever is answered."""
    for _ in scenario.connect_history.rounds:
        yield scenario


def generated_rounds(family: ScenarioFamily, seed: int) -> Rounds:
    """The rounds of a family's history, as they follow from the answers."""
    history = family.history(seed)
    place = Place(f"family {family.name}, seed {seed}")
    previous: Mapping[str, Jobs] | None = None
    for number in range(family.rounds):
        previous = yield scenario_from_document(dict(history.round(number, previous)), place)
