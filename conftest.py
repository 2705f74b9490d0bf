"""What holds for every test of this repository, the example plugins' included.

A test that does not run says nothing, so a skip, an expected failure and a skipped module are
failures here, each with the reason that it gave.
"""

from __future__ import annotations

import os
from collections.abc import Generator
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


def pytest_configure() -> None:
    """Forget the width of the terminal that the tests were started in, which processes of xdist hand on."""
    os.environ.pop("COLUMNS", None)


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
