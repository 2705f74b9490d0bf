"""Processor time of imports and of commands without work, beside a bare Python: ``python -m benchmarks.start``."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pages import put_between

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.start --write: begin -->"
END = "<!-- written by python -m benchmarks.start --write: end -->"
_ASSIGNOR = str(Path(sys.executable).with_name("assignor"))
#: Name of a case to its command and its goal in starts of a bare Python.
_CASES = {
    "import assignment_api.plugins": ((sys.executable, "-c", "import assignment_api.plugins"), 6),
    "from assignment_api.plugins import TaskAssignorPlugin, hookimpl": (
        (sys.executable, "-c", "from assignment_api.plugins import TaskAssignorPlugin, hookimpl"), 6,
    ),
    "assignor --version": ((_ASSIGNOR, "--version"), 3),
    "assignor --help": ((_ASSIGNOR, "--help"), 8),
    "assignor assign --help": ((_ASSIGNOR, "assign", "--help"), 12),
    "assignor plan --help": ((_ASSIGNOR, "plan", "--help"), 12),
    "assignor plugins, after the first time": ((_ASSIGNOR, "plugins"), 25),
}  # fmt: skip
_REPEATS = 5


def main() -> None:
    """Prints a table; ``--write`` puts it into benchmarks/README.md."""
    bare = _seconds((sys.executable, "-c", "pass"))
    lines = [
        f"A bare Python takes {bare * 1000:.0f} ms of processor time. Each figure is the least of {_REPEATS} runs.",
        "",
        "| start | bare Python = 1 | goal | holds |",
        "|---|---:|---:|---|",
    ]
    for name, (command, goal) in _CASES.items():
        ratio = round(_seconds(command) / bare, 1)
        lines.append(f"| `{name}` | {ratio} | {goal} | {'yes' if ratio <= goal else 'no'} |")
    text = "\n".join(lines)
    print(text)
    if "--write" in sys.argv:
        put_between(PAGE, BEGIN, text, END)


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
