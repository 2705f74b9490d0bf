"""Scoring needs only its own extra: no client of brokers or of Connect's workers."""

from __future__ import annotations

import subprocess
import sys

import pytest

ALONE = """
import sys
for absent in ("httpx", "kafka", "prometheus_client", "starlette", "tenacity", "uvicorn"):
    sys.modules[absent] = None  # importing it fails
import assignor_lab.run
import assignor_lab.scoring.sources.reading
"""


@pytest.mark.slow
def test_a_run_is_imported_without_the_extras_kafka_and_connect() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
