"""The pytest plugin of the conformance kit: options and summary lines, without cost for other runs.

It is here and not beside the kit, because an import of ``assignment_api`` imports the whole contract.
"""

from __future__ import annotations

from typing import Any

__all__ = ["note", "pytest_addoption", "pytest_terminal_summary"]

_LINES = "_assignor_conformance_lines"


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("assignor conformance", "conformance of Kafka assignors (assignment_api.conformance)")
    group.addoption("--conformance-histories", type=int, metavar="N", help="histories to play with each assignor")
    group.addoption("--conformance-seed", type=int, default=0, metavar="S", help="seed of the histories")
    group.addoption("--conformance-out", metavar="DIR", help="where failures go (default: conformance-failures)")
    group.addoption("--conformance-report", metavar="FILE", help="append each report to FILE, a line of JSON")


def note(config: Any, line: str) -> None:
    lines = getattr(config, _LINES, None) or []
    setattr(config, _LINES, [*lines, line])


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    for line in getattr(config, _LINES, None) or []:
        terminalreporter.write_line(line)
