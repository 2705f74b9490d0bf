from __future__ import annotations

import pytest

from assignor_lab.cli.score_progress import INTERVAL, Lines, figures
from assignor_lab.scoring.rows import Progress


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (Progress(12, 100, 192, 96, 4.0, "history"), "12 of 100 histories, 24 states/s, about 29 s left"),
        (Progress(1, 1, 2, 1, 0.5, "state"), "1 of 1 state, 2 states/s"),
        (Progress(10, 1_000, 10, 10, 60.0, "state"), "10 of 1,000 states, 0 states/s, about 1.6 h left"),
        (Progress(0, 5, 0, 0, 0.0, "item"), "0 of 5 items"),
    ],
)
def test_figures_of_the_progress(done: Progress, said: str) -> None:
    assert figures(done) == said


def test_without_a_terminal_there_is_a_line_every_30_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = 0.0
    lines = Lines(lambda: seconds)
    for moment in (10.0, INTERVAL, INTERVAL + 1, 2 * INTERVAL):
        seconds = moment
        lines(Progress(int(moment), 100, 0, 0, moment, "state"))
    assert capsys.readouterr().err.splitlines() == [
        "assignor: scored 30 of 100 states, 0 states/s, about 70 s left",
        "assignor: scored 60 of 100 states, 0 states/s, about 40 s left",
    ]
