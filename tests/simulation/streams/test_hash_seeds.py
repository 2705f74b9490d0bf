"""A result does not depend on Python's hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.simulation.streams.episodes import document, happens, started


def test_a_result_is_the_same_under_any_hash_seed(tmp_path: Path) -> None:
    file = tmp_path / "episode.jsonl"
    events = [started("a", threads=2), started("b", 1, threads=2), started("c", 60_000), happens("crash", "b", 200_000)]
    lines = [
        json.dumps(document(events, records=1_000, config={"num.standby.replicas": 1}, protocol=protocol))
        for protocol in ("classic", "streams")
    ]
    file.write_text("\n".join(lines) + "\n")
    outputs = {
        subprocess.run(
            [sys.executable, "-m", "assignor_lab.cli.main", "simulate", str(file), "--json", "--coming-refiner"],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(outputs) == 1
    assert b'"generations"' in outputs.pop()
