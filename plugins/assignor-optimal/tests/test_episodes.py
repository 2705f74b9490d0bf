"""Random episodes of a simulated application: no rule of safety is broken. `make fuzz` plays 2,000 of each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.parametrize("assignor", ["optimal", "load_aware"])
def test_no_rule_is_broken_in_random_episodes(assignor: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "assignor_lab.cli.main",
        "simulate",
        "--fuzz",
        "--count",
        "4",
        "--assignor",
        assignor,
    ]
    ran = subprocess.run(
        [*command, "--processes", "1", "--out", str(tmp_path), "--json"],
        check=True,
        capture_output=True,
        text=True,
        timeout=200,
    )
    found = json.loads(ran.stdout)
    assert found["played"] == {"classic": {assignor: 4}}
    assert found["broken"] == []
