"""Processor time of imports and of commands without work, beside a bare Python: ``python -m benchmarks.start``."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_ASSIGNOR = str(Path(sys.executable).with_name("assignor"))
_CASES = {
    "import assignment_api.plugins": (sys.executable, "-c", "import assignment_api.plugins"),
    "from assignment_api.plugins import TaskAssignorPlugin, hookimpl": (
        sys.executable, "-c", "from assignment_api.plugins import TaskAssignorPlugin, hookimpl",
    ),
    "assignor --version": (_ASSIGNOR, "--version"),
    "assignor --help": (_ASSIGNOR, "--help"),
    "assignor assign --help": (_ASSIGNOR, "assign", "--help"),
    "assignor plan --help": (_ASSIGNOR, "plan", "--help"),
    "assignor plugins, after the first time": (_ASSIGNOR, "plugins"),
}  # fmt: skip
_REPEATS = 5


def main() -> None:
    """Prints a table."""
    bare = _seconds((sys.executable, "-c", "pass"))
    print(f"bare Python: {bare * 1000:.0f} ms of processor time, the least of {_REPEATS}\n")
    for name, command in _CASES.items():
        print(f"{name:<64} {_seconds(command) / bare:6.1f}")


def _seconds(command: Sequence[str]) -> float:
    """The least processor time of some runs; the first one compiles and fills caches."""
    subprocess.run(command, check=True, capture_output=True)
    return min(_one(command) for _ in range(_REPEATS))


def _one(command: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
