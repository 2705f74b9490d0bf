"""A scoring run of a recorded group: the verification first, and no verdict if the inputs do not fit."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import attrs
import pytest
import typer
from rich.console import Console

from assignor_lab.capture.histories.past_terms import AUTO, DECISIONS, PastTerms
from assignor_lab.cli.score_gates import conclude
from assignor_lab.model.comparisons import Verdict
from assignor_lab.report.terminal import print_summary
from assignor_lab.scoring.output.summary_file import summary_of
from assignor_lab.scoring.sources.parts import Generated
from assignor_lab.scoring.summaries.unranked import without_verdict
from tests.capture.captured_logs import CAPTURES, logs
from tests.capture.flight_recording import write_recording
from tests.scoring.in_process import scored

pytestmark = pytest.mark.slow

ASSIGNORS = ["high_availability", "sticky", "two=high_availability,num.standby.replicas=2"]
FLIGHT = "num.standby.replicas=1\nacceptable.recovery.lag=5\nrack.aware.assignment.strategy=min_traffic\n"


def run(past: Path, out: Path, config: str = FLIGHT, way: str = AUTO) -> dict[str, Any]:
    file = out.with_suffix(".properties")
    file.write_text(config, encoding="utf-8")
    return scored([past], ASSIGNORS, out, config=file, past=PastTerms(way))


def printed(summary: dict[str, Any]) -> str:
    target = StringIO()
    print_summary(summary_of(summary), Console(file=target, width=500))
    return target.getvalue()


@pytest.fixture
def past(tmp_path: Path) -> Path:
    write_recording(tmp_path / "past", "classic")
    return tmp_path / "past"


def exchange_racks(past: Path) -> None:
    racks = past / "racks.toml"
    text = racks.read_text().replace('1 = "r1"', '1 = "r9"').replace('2 = "r2"', '2 = "r1"').replace("r9", "r2")
    racks.write_text(text, encoding="utf-8")


def test_the_answer_begins_with_the_verification(past: Path, tmp_path: Path) -> None:
    summary = run(past, tmp_path / "out")
    assert summary["verified"]["status"] == "verified"
    assert (summary["verified"]["reproduced"], summary["verified"]["decisions"]) == (10, 10)
    first = printed(summary).splitlines()[0]
    assert first.startswith("Decisions: 10 of 10 reproduced. Play of the group's own assignor: ")
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.index("Decisions: 10 of 10 reproduced") < page.index('class="verdict"')
    stored = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert stored["verified"] == summary["verified"]


@pytest.mark.parametrize("way", [AUTO, DECISIONS])
def test_wrong_racks_leave_no_verdict(way: str, past: Path, tmp_path: Path) -> None:
    exchange_racks(past)
    summary = run(past, tmp_path / "out", way=way)
    assert summary["verified"]["cause"]["input"] == "racks"
    assert summary["results"]["ranking"]["overall"] == []
    assert summary["results"]["differences"] == []
    figures = summary["results"]["headline"]["figures"]
    assert [each["best"] for each in figures] == [[]] * len(figures)
    assert {value[key] for each in figures for value in each["of"] for key in ("lower", "higher", "tells")} <= {None}
    shown = printed(summary)
    page = (tmp_path / "out" / "report.html").read_text()
    assert shown.startswith("No verdict: Kafka's assignor reproduces 2 of 10 recorded decisions.")
    assert 'role="alert"' in page
    for verdict in (" is ahead", " behind", "better than", "worse than", "cannot be put in an order", "best in"):
        assert verdict not in shown
    assert 'class="verdict"' not in page


def test_a_gate_is_not_judged_where_there_is_no_verdict(past: Path, tmp_path: Path) -> None:
    exchange_racks(past)
    results = summary_of(run(past, tmp_path / "out")).results
    passed = Verdict(expression="rebalances > 99", assignor="sticky", status="passed", value=3.0, states=3, reason="3")
    gates = without_verdict(attrs.evolve(results, gates=(passed,))).gates
    lines: list[str] = []
    with pytest.raises(typer.Exit) as left:
        conclude(gates, None, lines.append)
    assert left.value.exit_code == 1
    assert lines == [
        "UNKNOWN sticky: rebalances > 99: not judged: the recorded decisions are not reproduced, so there is no verdict"
    ]


def test_a_wrong_session_timeout_leaves_no_verdict(past: Path, tmp_path: Path) -> None:
    summary = run(past, tmp_path / "out", f"{FLIGHT}session.timeout.ms=45000\n")
    assert summary["verified"]["cause"]["input"] == "session timeout"


def test_a_single_key_of_the_command_line_is_a_question(tmp_path: Path) -> None:
    config = CAPTURES / "tagged" / "application.properties"
    summary = scored(
        list(logs("tagged")), ["high_availability"], tmp_path / "out", ["num.standby.replicas=2"], config=config
    )
    assert summary["verified"]["status"] == "verified"


def test_generated_states_have_no_verification(tmp_path: Path) -> None:
    summary = scored([Generated("steady_state", 2)], ["high_availability"], tmp_path / "out")
    assert summary["verified"] is None
