"""The simulation of Streams groups, compared with recordings: the figures are those on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.streams_simulation.page import BEGIN, END, PAGE, close, summary, tables, write_page
from benchmarks.streams_simulation.recordings import RECORDINGS, compared


@pytest.mark.parametrize("name", ["downtime A", "downtime C", "warm"])
def test_a_recorded_group_is_played_as_the_page_says(name: str) -> None:
    found = compared(name)
    text = f"{summary({name: found})}\n{tables({name: found})}"
    lines = [line for line in text.splitlines() if line.startswith(f"| {name} |")]
    assert len(lines) == 1 + len(found["actions"]) + len(found["probe"])
    assert not set(lines) - set(PAGE.read_text(encoding="utf-8").splitlines())
    rebalances = [row["rebalances"] for row in found["actions"]]
    assert all(abs(each["recorded"] - each["simulated"]) <= 1 for each in rebalances)


def test_the_page_tells_of_every_recording() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in RECORDINGS if f"| {name} |" not in text] == []


@pytest.mark.parametrize(
    ("recorded", "simulated", "held"),
    [(10, 12, True), (10, 13, False), (1, 2, True), (100, 119, True), (None, None, True), (None, 3, False)],
)
def test_close_is_within_a_share_or_an_allowance(recorded: int | None, simulated: int | None, held: bool) -> None:
    assert close({"recorded": recorded, "simulated": simulated}, 0.2, 1) is held


def test_tables_take_the_place_of_those_in_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_page("new", page)
    assert page.read_text() == f"before\n{BEGIN}\nnew\n{END}\nafter\n"
