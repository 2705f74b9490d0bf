from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from assignor_lab.cli.app import build_app


def run(*arguments: str) -> str:
    result = CliRunner().invoke(build_app(), arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_findings_are_shown_and_written_and_come_out_again(tmp_path: Path) -> None:
    options = ("clients", "--client", "kafka-python", "--strategy", "range", "--count", "100", "--out", str(tmp_path))
    shown = run(*options)
    assert "kafka-python, range, even: A member has at least two partitions less" in shown
    [survey] = json.loads(run(*options, "--json"))
    [found] = survey["findings"]
    assert (survey["strategy"], survey["groups"], found["promise"]) == ("range", 100, "even")
    group = tmp_path / "kafka-python-range-even.jsonl"
    [answer] = run("assign", str(group), "--assignor", "range", "--client", "kafka-python").splitlines()
    assert json.loads(answer)["members"] == {member: dict(held) for member, held in found["answer"].items()}
    compared = run("compare", str(group), "--assignor", "range", "--client", "kafka-python")
    assert "they run 1 on different clients" in compared


def test_an_unknown_library_or_strategy_is_refused_with_those_at_hand() -> None:
    result = CliRunner().invoke(build_app(), ["clients", "--strategy", "fair", "--count", "1"])
    assert isinstance(result.exception, Exception)
    assert "at hand: kafka-python, aiokafka" in str(result.exception)
