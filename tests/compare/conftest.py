from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="session")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The 24 decisions that the leader of a recorded group logged."""
    recorded, out = DATA / "captures" / "tagged", tmp_path_factory.mktemp("tagged") / "tagged.jsonl"
    logs = [str(log) for log in sorted(recorded.glob("*.log.gz"))]
    config = str(recorded / "application.properties")
    done = CliRunner().invoke(build_app(), ["import-log", *logs, "--config", config, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return str(out)
