"""Processor time of a command counts its processes, also those that outlive it."""

from __future__ import annotations

import subprocess
import sys

_BUSY = "from time import process_time\nwhile process_time() < 0.5: pass"
_COMMAND = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {_BUSY!r}])"
_MEASURED = f"""
import subprocess, sys
from benchmarks.processes import processor_time
with processor_time() as time:
    subprocess.run([sys.executable, '-c', {_COMMAND!r}], check=True)
print(time.seconds)
"""


def test_a_process_that_outlives_its_parent_is_counted() -> None:
    # In another process, which becomes the parent of orphans.
    done = subprocess.run([sys.executable, "-c", _MEASURED], check=True, capture_output=True, text=True)
    assert 0.4 <= float(done.stdout) < 5.0
