"""The file of ``advise --resume``: days that are there are not played again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from assignor_lab.advising.figures import DayCost
from assignor_lab.advising.played_days import PlayedDaysError, kept
from assignor_lab.advising.race import Play, Player

TERMS = {"seed": 1}
DAYS: Sequence[Play] = [({"a": "x", "b": "1"}, day) for day in range(3)] + [({"a": "y", "b": "1"}, 0)]


def cost(play: Play) -> DayCost | str:
    configuration, day = play
    if configuration["a"] == "y":
        return "cannot be played"
    return DayCost({"task_seconds": day + 0.1, "dollars": None}, {"roll": day / 3}, {"roll": 1.0})


class Counting:
    """Counts the played days; Ctrl-C comes after ``most`` of them."""

    def __init__(self, most: int = 100) -> None:
        self.left, self.played = most, 0

    def __call__(self, plays: Sequence[Play]) -> Iterator[DayCost | str]:
        for each in plays:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            self.played += 1
            yield cost(each)


def result(player: Player) -> list[DayCost | str]:
    return list(player(DAYS))


def test_a_stopped_race_plays_only_missing_days(tmp_path: Path) -> None:
    file = tmp_path / "days.jsonl"
    with pytest.raises(KeyboardInterrupt):
        result(kept(Counting(most=2), file, TERMS))
    with file.open("ab") as stream:
        stream.write(b'{"configuration": {"a": "x"')  # as a killed process leaves it
    counting = Counting()
    assert result(kept(counting, file, TERMS)) == list(map(cost, DAYS))
    assert counting.played == 2
    counting = Counting()
    assert result(kept(counting, file, TERMS)) == list(map(cost, DAYS))
    assert counting.played == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "its days are of another group"),
        ("a file of the user\n", "line 1: not written by"),
        ("without an end of line", "line 1: not written by"),
    ],
)
def test_other_files_are_refused_and_stay(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "days.jsonl"
    if content:
        file.write_text(content)
    else:
        result(kept(Counting(), file, {"seed": 2}))
    before = file.read_bytes()
    with pytest.raises(PlayedDaysError, match=message):
        kept(Counting(), file, TERMS)
    assert file.read_bytes() == before


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "days.jsonl"
    result(kept(Counting(), file, TERMS))
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:2], "{}", *lines[3:], ""]))
    with pytest.raises(PlayedDaysError, match="line 3: damaged"):
        kept(Counting(), file, TERMS)
