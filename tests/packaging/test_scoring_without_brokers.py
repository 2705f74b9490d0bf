"""Scoring needs its own extra: neither what asks brokers nor what asks Connect's workers."""

from __future__ import annotations

import subprocess
import sys

ALONE = """
import sys
for absent in ("httpx", "kafka", "prometheus_client", "starlette", "tenacity", "uvicorn"):
    sys.modules[absent] = None  # importing it fails
import assignor_lab.run
import assignor_lab.scoring.sources
"""


def test_a_run_is_imported_without_the_extras_kafka_and_connect() -> None:
    done = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
