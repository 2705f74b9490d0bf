"""The summary file: what the reader takes, the writer gives back to the byte, for each kind of group."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignor_lab.scoring.output.summary_file import read_summary, summary_document
from assignor_lab.scoring.sources.parts import Generated, SourceInput
from tests.scoring.in_process import scored

SAMPLE = Path(__file__).parents[2] / "assignor_lab" / "samples" / "tagged"
LOGS = [str(path) for path in sorted((SAMPLE / "logs").iterdir())]


@pytest.mark.parametrize(
    ("sources", "assignors"),
    [
        ([Generated("streams_histories", 2, 3)], ["high_availability", "sticky"]),
        ([Generated("group_histories", 1)], ["group_sticky"]),
        ([Generated("connect_histories", 1)], ["connect_incremental", "connect_eager"]),
        ([Generated("episode_crash", 1)], ["sticky", "two=sticky,num.standby.replicas=1"]),
        (LOGS, ["sticky"]),
    ],
    ids=["states", "members", "rebalances", "plays", "logs"],
)
def test_a_written_summary_is_read_and_written_again_to_the_byte(
    sources: list[SourceInput], assignors: list[str], tmp_path: Path
) -> None:
    scored(sources, assignors, tmp_path / "out")
    path = tmp_path / "out" / "summary.json"
    again = json.dumps(summary_document(read_summary(path)), ensure_ascii=True, allow_nan=False, indent=1)
    assert f"{again}\n" == path.read_text(encoding="utf-8")
