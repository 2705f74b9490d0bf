"""The JUnit report: readable for a JUnit library and for any XML parser, with any texts."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from junitparser import JUnitXml

from assignor_lab.model.comparisons import Verdict
from assignor_lab.scoring.gates.junit import write_junit

#: The common part of the schemas of Jenkins, GitLab and Ant's formatter.
KNOWN = {
    "testsuites": {"name"},
    "testsuite": {"name", "tests", "errors", "failures", "skipped", "time"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}


def gate(status: str, expression: str = "x > 3", assignor: str = "sticky") -> Verdict:
    return Verdict(expression=expression, assignor=assignor, status=status, states=4, reason="4; fails at > 3")


def test_each_gate_is_a_test_case_with_its_result(tmp_path: Path) -> None:
    path = tmp_path / "gates.xml"
    write_junit([gate("passed"), gate("failed"), gate("unknown"), gate("failed")], path)
    (suite,) = JUnitXml.fromfile(str(path))
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (4, 2, 1, 0)
    assert [case.is_passed for case in suite] == [True, False, False, False]
    assert next((case.name, case.classname) for case in suite) == ("x > 3", "gates.sticky")
    assert next(each.message for case in suite for each in case.result) == "sticky: 4; fails at > 3"


def test_only_elements_and_attributes_that_every_server_knows_are_used(tmp_path: Path) -> None:
    write_junit([gate("passed"), gate("failed"), gate("unknown")], tmp_path / "gates.xml")
    for element in ET.parse(tmp_path / "gates.xml").iter():
        assert set(element.attrib) <= KNOWN[element.tag]


def test_texts_that_xml_cannot_hold_are_made_so_that_it_can(tmp_path: Path) -> None:
    hostile = 'a\x00b\x1b[2J <x> & "q" \ud800 ]]> \uffff é'
    write_junit([gate("failed", hostile, "m.n:O\x07")], tmp_path / "gates.xml")
    (case,) = ET.parse(tmp_path / "gates.xml").iter("testcase")
    assert case.get("name") == 'a\ufffdb\ufffd[2J <x> & "q" \ufffd ]]> \ufffd é'
    assert case.get("classname") == "gates.m_n:O\ufffd"


def test_the_file_takes_the_place_of_an_older_one_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "gates.xml"
    path.write_text("older", encoding="utf-8")
    write_junit([gate("passed")], path)
    write_junit([], path)
    assert [each.name for each in tmp_path.iterdir()] == ["gates.xml"]
    assert len(list(ET.parse(path).iter("testcase"))) == 0
