"""States of recorded groups, as the commands import them: fixtures for several rooms."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app

CAPTURES = Path(__file__).parent / "data" / "captures"


def logged_states(group: str, out: Path) -> str:
    """The logged decisions of a recorded group's leaders, in a file."""
    recorded = CAPTURES / group
    logs = [str(log) for log in sorted(recorded.glob("*.log.gz"))]
    config = str(recorded / "application.properties")
    done = CliRunner().invoke(build_app(), ["import", *logs, "--config", config, "--out", str(out)])
    assert done.exit_code == 0, done.output
    return str(out)


def recorded_states(group: str, out: Path) -> str:
    """The stable states of a recorded group, with all data that Kafka had, in a file."""
    recorded = CAPTURES / group
    logs = [word for log in sorted(recorded.glob("*.log.gz")) for word in ("--log", str(log))]
    config = str(recorded / "application.properties")
    exchanges = str(recorded / "exchanges.jsonl.gz")
    done = CliRunner().invoke(
        build_app(), ["import", exchanges, *logs, "--config", config, "--out", str(out)]
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    return str(out)


@pytest.fixture(scope="session")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> str:
    return logged_states("tagged", tmp_path_factory.mktemp("tagged") / "tagged.jsonl")


@pytest.fixture(scope="session")
def orders(tmp_path_factory: pytest.TempPathFactory) -> str:
    return recorded_states("orders-2", tmp_path_factory.mktemp("orders") / "orders-2.jsonl")


@pytest.fixture(scope="session")
def warm(tmp_path_factory: pytest.TempPathFactory) -> str:
    return recorded_states("warm", tmp_path_factory.mktemp("warm") / "warm.jsonl")
