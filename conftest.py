"""What holds for every test of this repository, the example plugins' included.

A test that does not run says nothing, so a skip, an expected failure and a skipped module are
failures here, each with the reason that it gave.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Generator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent

#: Files of more than ten seconds, the longest first.
LONG_FILES = (
    "groups/streams_group/test_group_command.py",
    "plugins/test_bad_imports.py",
    "scoring/test_score_command.py",
    "scoring/test_scoring_on_spark.py",
    "scoring/test_score_gates_command.py",
    "scoring/test_resume.py",
    "scoring/test_connect_command.py",
    "scoring/test_again.py",
    "scoring/test_isolated_scoring.py",
    "scoring/test_pieces.py",
    "scoring/test_without_spark.py",
    "scoring/test_data_source.py",
    "scoring/test_readers.py",
    "scoring/test_exclusion.py",
    "capture/test_topology_recordings.py",
    "verification/test_verified.py",
    "capture/connect_log/test_departures.py",
    "conformance/test_command.py",
    "runtime/test_isolation.py",
    "groups/streams_group/test_isolated_groups.py",
    "groups/connect/test_isolated_connect.py",
    "groups/connect/test_connect_answering.py",
    "scenarios/test_event_families.py",
    "scenarios/test_streams_group_families.py",
    "scenarios/test_reading.py",
    "scenarios/test_unwritable_files.py",
    "builtin_assignors/test_high_availability_golden.py",
    "builtin_assignors/test_group_sticky.py",
    "builtin_assignors/test_connect_golden.py",
    "parity/test_cases.py",
    "cli/test_bench.py",
    "cli/test_help.py",
    "explain/test_explain.py",
)


def pytest_configure(config: pytest.Config) -> None:
    """Forget the width of the terminal that the tests were started in, which processes of xdist hand on.

    Raises:
        pytest.UsageError: if tests of an example plugin are named that is not installed.
    """
    os.environ.pop("COLUMNS", None)
    named = [Path(each.partition("::")[0]).absolute() for each in config.invocation_params.args]
    for missing in _not_installed():
        if any(each in (missing, missing.parent) or missing in each.parents for each in named):
            raise pytest.UsageError(_left_out(missing))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the tests of an example plugin that is not installed, as in a fresh clone."""
    return True if collection_path in _not_installed() else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the example plugins whose tests were left out."""
    for missing in _not_installed():
        terminalreporter.write_line(f"left out: {_left_out(missing)}", yellow=True)


@cache
def _not_installed() -> tuple[Path, ...]:
    """Folders of the example plugins whose distributions are missing."""
    return tuple(file.parent for file in sorted(ROOT.glob("plugins/*/pyproject.toml")) if not _is_installed(file))


def _is_installed(project: Path) -> bool:
    try:
        distribution(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["name"])
    except PackageNotFoundError:
        return False
    return True


def _left_out(folder: Path) -> str:
    return f"the tests in {folder.relative_to(ROOT)}: the plugin is not installed, run `make plugins`"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that last long first, so that nobody waits for one of them at the end, and tests with a browser last.

    Playwright leaves a loop running, and no other runs in its thread after that.
    """
    places = {ROOT / "tests" / name: place for place, name in enumerate(LONG_FILES)}

    def place(item: pytest.Item) -> tuple[bool, int]:
        return "browser" in getattr(item, "fixturenames", ()), places.get(item.path, len(places))

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn skipped and xfailed tests into failures."""
    report = yield
    if report.skipped or hasattr(report, "wasxfail"):
        reason = getattr(report, "wasxfail", None) or _reason(report)
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: a test may neither be skipped nor expected to fail ({reason})"
        if hasattr(report, "wasxfail"):
            del report.wasxfail
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turn modules that skip themselves into failures."""
    report = yield
    if report.outcome == "skipped":
        report.outcome = "failed"
        report.longrepr = f"{collector.nodeid}: a module may not skip its tests ({_reason(report)})"
    return report


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """The text that was given to `pytest.skip`."""
    match report.longrepr:
        case (_, _, str(text)):
            return text
        case other:
            return str(other)
