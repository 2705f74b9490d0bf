"""Groups whose changes were planned before: the table, and their recordings."""

from __future__ import annotations

import pytest

from assignment_api.plugins import discover
from calibration.accuracy.foreign import foreign_changes
from calibration.accuracy.pasts import PASTS, other_releases, pasts_text, played_pasts
from tests.calibration.live.groups import Done, table


def done(measured: float, low: float, high: float, past: tuple[float, float] | None = None) -> Done:
    def of(value: object) -> dict[str, object]:
        return {"worst_task_seconds": value, "task_seconds": value}

    own = None if past is None else of([past[0], 10.0, past[1]])
    return Done("joined", "roll", of(measured), of([low, 10.0, high]), own, "4.0..6.0")  # type: ignore[arg-type]


def test_the_table_counts_changes_inside_their_intervals() -> None:
    rows = table([done(9.0, 8.0, 13.0), done(14.0, 8.0, 13.0, (9.0, 15.0))])
    assert rows[2:6] == [
        "| inside, without a past | 80 % | 1 of 2 (50%) | 1 of 2 (50%) |",
        "| median width, without a past | at most 70 % | 50% | 50% |",
        "| inside, with the recorded past | 80 % | 1 of 1 (100%) | 1 of 1 (100%) |",
        "| median width, with the recorded past | at most 45 % | 60% | 60% |",
    ]
    assert rows[-2] == "| joined | roll | 4.0 to 6.0 | worst task | 14.0 | 10.0 | 8.0 to 13.0 **no** | 9.0 to 15.0 |"


@pytest.mark.slow
def test_recorded_groups_show_their_changes() -> None:
    found = [(each.group, each.change.kind) for each in foreign_changes(discover(), ["groups/busy", "groups/standbys"])]
    assert found == [
        (f"groups/{name}", kind) for name in ("standbys", "busy") for kind in ("roll", "roll", "scale", "scale")
    ]


@pytest.mark.slow
def test_a_recorded_past_is_played_beside_its_recording() -> None:
    text = pasts_text(list(played_pasts(discover(), ["groups/standbys", "events/outage"])))
    assert text.startswith("1 of 1 recordings are in the band of their plays")
    assert "Not played, because decisions contradict the assignor: `events/outage` (outage)." in text
    assert "| groups/standbys (live) | 16 | 13 to 18 |" in text


def test_the_releases_that_are_held_out_are_in_no_other_table() -> None:
    names = other_releases()
    assert len(names) == 14
    assert not set(names) & set(PASTS)
