"""``--json`` of commands that write a file of lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app

DATA = Path(__file__).parents[1] / "data"
SMALL = str(DATA / "scale" / "streams" / "small-4x40.jsonl.gz")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), arguments)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("assign", "--assignor", "sticky", SMALL),
        ("bench", SMALL, "--assignor", "sticky", "--warmup", "0", "--repeat", "1"),
        ("convert", SMALL),
    ],
    ids=lambda command: str(command[0]),
)
def test_json_tells_what_was_written(command: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    told = json.loads(run(*command, "--out", str(out), "--json").stdout)
    assert told["out"] == str(out)
    assert told["lines"] == len(out.read_text().splitlines()) == 4


def test_json_beside_lines_on_the_standard_output_is_refused() -> None:
    refused = run("assign", "--assignor", "sticky", SMALL, "--json")
    assert refused.exit_code == 2
    assert "name a file with --out" in refused.output


def test_failures_of_an_assignor_are_counted(tmp_path: Path) -> None:
    scenarios = tmp_path / "refused.jsonl"
    scenarios.write_text(
        '{"format":1,"kind":"streams","id":"r","config":{"max.warmup.replicas":0},"tasks":[],"clients":[]}\n'
    )
    out = str(tmp_path / "out.jsonl")
    told = json.loads(run("assign", "--assignor", "sticky", str(scenarios), "--out", out, "--json").stdout)
    assert (told["lines"], told["failed"]) == (1, 1)
