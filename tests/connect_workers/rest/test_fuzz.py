"""A short run of `make fuzz-rest`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.services


def test_schema_driven_requests_find_nothing_that_connect_would_not_answer() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "fuzz_rest.py"), "--count", "200", "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
