"""What each part of the start of Spark saves in a small run: ``python -m benchmarks.spark_start``.

Each run scores a few states on two cores of a local Spark, with one part left out. Processor time is that of the
command and of all its processes, the JVM and the workers included, to their ends. The order of the cases rotates.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.pages import put_between

PAGE = Path(__file__).with_name("README.md")
BEGIN = "<!-- written by python -m benchmarks.spark_start --write: begin -->"
END = "<!-- written by python -m benchmarks.spark_start --write: end -->"
#: Of prctl: orphans become children of this process, so that their time is counted.
_CHILD_SUBREAPER = 36


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark_start", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each case (%(default)s)")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE.name}")
    parser.add_argument("--without", choices=tuple(_CASES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.without is not None:
        return _run_without(options.without)
    text = "\n".join(_table(options.repeats))
    print(text)
    if options.write:
        put_between(PAGE, BEGIN, text, END)
    return 0


def _table(repeats: int) -> Iterator[str]:
    ctypes.CDLL(None).prctl(_CHILD_SUBREAPER, 1, 0, 0, 0)
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in _CASES}
    names = list(_CASES)
    with TemporaryDirectory(prefix="assignor-archives-") as archives:
        for name in names[:2] * 2:
            _measured(name, archives)  # modules are compiled, and the archive is written and found
        for number in range(repeats):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                seconds[name].append(_measured(name, archives))
    yield "| start of Spark | processor time, s | time by the clock, s |"
    yield "|---|---:|---:|"
    for name, found in seconds.items():
        spent, clock = (sorted(each) for each in zip(*found, strict=True))
        yield f"| {name} | {_shown(spent)} | {_shown(clock)} |"


def _shown(seconds: list[float]) -> str:
    return f"{median(seconds):.1f} ({seconds[0]:.1f} to {seconds[-1]:.1f})"


def _measured(name: str, archives: str) -> tuple[float, float]:
    """Processor seconds of a run and all its processes, and its seconds by the clock."""
    environment = {**os.environ, "ASSIGNOR_CLASS_ARCHIVES": archives, **_CASES[name][0]}
    before, start = _spent(), monotonic()
    command = [sys.executable, "-m", "benchmarks.spark_start", "--without", name]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    clock = monotonic() - start
    with suppress(ChildProcessError):
        while True:
            os.wait()
    return _spent() - before, clock


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run_without(name: str) -> int:
    from assignor_lab.cli.main import main as command
    from assignor_lab.scoring.spark import session

    _CASES[name][1](session)
    with TemporaryDirectory(prefix="assignor-bench-") as folder:
        words = ["score", "--families", "streams_4x40", "--count", "4", "--engine", "spark", "--master", "local[2]"]
        command([*words, "--out", str(Path(folder) / "out")])
    return 0


# --- the parts ------------------------------------------------------------------------------------


def _keep_all(_session: object) -> None: ...


def _without_filter(session: object) -> None:
    from assignor_lab.scoring.spark import jvm

    @contextmanager
    def stderr() -> Iterator[int]:
        yield 2

    jvm.filtered_pipe = stderr  # type: ignore[attr-defined]
    session.filtered_stderr = stderr  # type: ignore[attr-defined]


def _launched_by_pyspark(session: object) -> None:
    """Spark's own launch, which waits for the JVM; with the same settings."""
    from assignor_lab.scoring.spark.class_archive import archive_options
    from assignor_lab.scoring.spark.java import checked_java
    from assignor_lab.scoring.spark.jvm import spark_home
    from assignor_lab.scoring.spark.session import _JAVA, _LOCAL_SETTINGS, _settings

    home = spark_home()
    assert home is not None

    def settings(*arguments: object) -> dict[str, str]:
        usual = {**_settings(*arguments), **_LOCAL_SETTINGS}  # type: ignore[arg-type]
        return {**usual, _JAVA: f"{usual[_JAVA]} {archive_options(checked_java(), home / 'jars')}"}

    session._settings = settings  # type: ignore[attr-defined]
    session.is_local = lambda _master: False  # type: ignore[attr-defined]


#: Name of a case to its environment, and to its change of the module that opens sessions.
_CASES: dict[str, tuple[Mapping[str, str], Callable[[object], None]]] = {
    "as it is": ({}, _keep_all),
    "without the class archive": ({"ASSIGNOR_CLASS_ARCHIVES": ""}, _keep_all),
    "without the filter of standard error": ({}, _without_filter),
    "launched by PySpark": ({}, _launched_by_pyspark),
}

if __name__ == "__main__":
    sys.exit(main())
