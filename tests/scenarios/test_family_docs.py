from __future__ import annotations

from pathlib import Path

import pytest

from assignment_api.plugins import ScenarioFamily
from assignor_lab.plugin import assignor_lab_scenario_families
from assignor_lab.scenarios.families.sizes import CLIENTS
from assignor_lab.scenarios.families.streams_group_traps import GROUP_TRAPS
from assignor_lab.scenarios.families.streams_traps import TRAPS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "scenario-families.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", assignor_lab_scenario_families(), ids=lambda family: family.name)
def test_each_family_is_in_the_page_with_its_rounds(family: ScenarioFamily) -> None:
    assert f"| `{family.name}` | {family.rounds} | {family.summary} |" in PAGE


@pytest.mark.parametrize("trap", [*TRAPS, *GROUP_TRAPS])
def test_each_trap_is_in_the_page(trap: str) -> None:
    assert f"| `{trap}` |" in PAGE


def test_the_sizes_are_in_the_page() -> None:
    parts = [f"{weight / 100:g} % {lowest}–{highest}" for weight, (lowest, highest) in CLIENTS]
    assert ", ".join(parts) in PAGE.replace("\n", " ").replace("  ", " ")
