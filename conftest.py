"""What holds for every test of this repository, the example plugins' included.

A test that does not run says nothing, so a skip, an expected failure and a skipped module are
failures here, each with the reason that it gave.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest


def pytest_configure() -> None:
    """Forget the width of the terminal that the tests were started in, which processes of xdist hand on."""
    os.environ.pop("COLUMNS", None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests with a browser last: Playwright leaves a loop running, and no other runs in its thread after that."""
    items.sort(key=lambda item: "browser" in getattr(item, "fixturenames", ()))


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
