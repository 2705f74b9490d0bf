from __future__ import annotations

import pytest

from assignor_lab.cli.score_progress import INTERVAL, Lines, Speed, figures
from assignor_lab.scoring.rows import Progress


@pytest.mark.parametrize(
    ("done", "speed", "said"),
    [
        (Progress(12, 100, 192, 96, 30.0, "history"), 0.4, "12 of 100 histories, 24 a minute, about 4 min left"),
        (Progress(1, 1, 2, 1, 0.5, "state"), 2.0, "1 of 1 state, 2 a second"),
        (Progress(10, 1_000, 10, 10, 60.0, "state"), 1 / 6, "10 of 1,000 states, 10 a minute, about 1.6 h left"),
        (Progress(0, 5, 0, 0, 0.0, "item"), None, "0 of 5 items"),
        (Progress(3, 5, 0, 0, 99.0, "item"), 0.0, "3 of 5 items"),
    ],
)
def test_figures_of_the_progress(done: Progress, speed: float | None, said: str) -> None:
    assert figures(done, speed) == said


def test_the_estimate_follows_the_speed_of_the_last_minute() -> None:
    speed = Speed()
    found = [speed(Progress(items, 2_000, 0, 0, seconds, "state")) for seconds, items in (
        (0.0, 500), (10.0, 600), (20.0, 700), (70.0, 750), (80.0, 760), (140.0, 820),
    )]  # fmt: skip
    # 500 items are of an earlier run; after 20 s the speed falls from 10 to 1 a second.
    assert found == [None, 10.0, 10.0, 2.5, 1.0, 1.0]


def test_without_a_terminal_there_is_a_line_every_30_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 0.0
    lines = Lines(lambda: seconds)
    for moment in (10.0, INTERVAL, INTERVAL + 1, 2 * INTERVAL):
        seconds = moment
        lines(Progress(int(moment), 100, 0, 0, moment, "state"))
    assert capsys.readouterr().err.splitlines() == [
        "assignor: scored 30 of 100 states, 1 a second, about 70 s left",
        "assignor: scored 60 of 100 states, 1 a second, about 40 s left",
    ]
