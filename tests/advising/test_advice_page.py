"""The page of an advice."""

from __future__ import annotations

import attrs
import pytest

from assignor_lab.advising.advice import Advice, Effort, advise
from assignor_lab.advising.choice import Aims
from assignor_lab.advising.configurations import MEMBERS, STANDBYS, STATIC
from assignor_lab.advising.figures import OBJECTIVES, DayCost
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.advising.race import Play
from assignor_lab.advising.space import space_of
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from assignor_lab.report.advice_page import front_of, render_advice_page
from tests.advising.groups import recorded_group


def play(plays: list[Play]) -> list[DayCost]:
    """Static members halve the downtime, and each standby more costs rebalances."""
    made = []
    for each, day in plays:
        seconds = 10.0 + day % 2 - 5.0 * (each[MEMBERS] == STATIC) - int(each[STANDBYS])
        figures = {**dict.fromkeys(OBJECTIVES, 1.0), "task_seconds": seconds, "rebalances": 1.0 + int(each[STANDBYS])}
        made.append(DayCost(figures, dict.fromkeys(DEFAULT_MIX.per_day, seconds), {}))
    return made


@pytest.fixture(scope="module")
def advice() -> Advice:
    group = recorded_group("P1")
    aims = Aims(("task_seconds", "rebalances"))
    return advise(AdvisedStreamsGroup(group), DEFAULT_MIX, space_of(group, DEFAULT_MIX), aims, Effort(30, 3), play)  # type: ignore[arg-type]


def test_the_present_and_the_advised_configuration_are_marked(advice: Advice) -> None:
    kinds = [each.kind for each in front_of(advice).points]
    assert kinds.count("present") == 1
    assert kinds.count("advised") == 1
    assert "front" in kinds


def test_the_page_begins_with_the_sentence_and_escapes_names(advice: Advice) -> None:
    page = render_advice_page(advice, "<source>", "<b>group</b>", ["Verified: fine."], ["<i>assumed</i>"])
    assert "Static members" in page
    assert page.index("Verified: fine.") < page.index("Static members")
    for hostile in ("<source>", "<b>group", "<i>assumed"):
        assert hostile not in page


def test_a_kept_configuration_has_no_change(advice: Advice) -> None:
    kept = attrs.evolve(advice, winner=advice.present)
    assert 'id="change"' not in render_advice_page(kept, "source", "group", [], [])
