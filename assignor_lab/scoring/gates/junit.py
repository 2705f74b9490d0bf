"""Gate results as a JUnit report: one suite, one test case for each gate and assignor."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from assignor_lab.documents.durable import write_durably
from assignor_lab.model.comparisons import Verdict

__all__ = ["write_junit"]

SUITE = "assignor score"
#: Characters that XML 1.0 cannot contain, not even escaped.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(gates: Iterable[Verdict], path: Path, suite_name: str = SUITE) -> None:
    """Writes the report atomically over an old one.

    Raises:
        OutputFileError: if it cannot be written.
    """
    suite = TestSuite(suite_name)
    suite.add_testcases([_case(gate) for gate in gates])
    report = JUnitXml(suite_name)
    report.add_testsuite(suite)
    text = io.BytesIO()
    report.write(text, pretty=True)
    write_durably(path, text.getvalue())


def _case(gate: Verdict) -> TestCase:
    # Build servers split class names at dots, so dots in the assignor's name are replaced.
    assignor = _text(gate.assignor).replace(".", "_")
    case = TestCase(_text(gate.expression), f"gates.{assignor}", 0.0)
    message = _text(f"{gate.assignor}: {gate.reason}")
    if gate.status == "failed":
        case.result = [Failure(message, "gate")]
    elif gate.status == "unknown":
        case.result = [Error(message, "unknown")]
    return case


def _text(text: str) -> str:
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
