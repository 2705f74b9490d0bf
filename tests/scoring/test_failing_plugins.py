"""A fault of a plugin is charged to that plugin, named, and decides the exit code if nothing else is left."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer

from assignor_lab.cli.score import note_failures
from assignor_lab.cli.score_gates import check_answered
from assignor_lab.groups.columns import OF_ASSIGNOR, OF_FAMILY
from assignor_lab.report.html import write_report
from assignor_lab.report.words import remarks, verdict
from assignor_lab.scoring import Generated
from assignor_lab.scoring.output.folder import RESULTS
from assignor_lab.scoring.output.summary_file import summary_of
from tests.plugins.installing import write_distribution
from tests.scoring.in_process import scored
from tests.scoring.runs import NAMED

pytestmark = pytest.mark.slow

FAULTY = """
    from assignment_api.plugins import MetricPlugin, ScenarioFamily, TaskAssignorPlugin, hookimpl


    class Unlucky:
        def __init__(self, seed):
            self.seed = seed

        def round(self, number, previous):
            return made_of(self.seed)


    def made_of(seed):
        raise KeyError(f"no group for seed {seed}")


    def one(application, assignment):
        return 1.0


    class Own:
        def assign(self, application):
            raise AssertionError("never called")


    @hookimpl
    def assignor_lab_scenario_families():
        return [ScenarioFamily("unlucky", "States that cannot be made.", 1, Unlucky)]


    @hookimpl
    def assignor_lab_metrics():
        return [MetricPlugin("process_load_excess", "1", "lower", "A name that is taken.", one)]


    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("sticky", Own)]
"""


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    write_distribution(folder, "faulty-plugins", {"faulty_plugins": FAULTY}, {"faulty": "faulty_plugins"})
    monkeypatch.syspath_prepend(str(folder))


@pytest.mark.usefixtures("faulty")
def test_the_failure_of_a_family_is_charged_to_the_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = (Generated("unlucky", 3, 0), Generated("streams_4x40", 1, 0))
    summary = scored(sources, ("sticky", f"{NAMED}Raises"), tmp_path / "out")
    results, values = summary["results"], summary_of(summary).results
    rows = pq.read_table(tmp_path / "out" / RESULTS).to_pylist()
    assert {row["error_origin"] for row in rows if row["family"] == "unlucky"} == {OF_FAMILY}
    assert {row["error_origin"] for row in rows if row["family"] != "unlucky"} == {None, OF_ASSIGNOR}
    standing = {each["name"]: each for each in results["assignors"]}
    assert (standing["sticky"]["status"], standing["sticky"]["failed_rows"]) == ("scored", 0)
    assert standing["sticky"]["stateless_rows"] == standing[f"{NAMED}Raises"]["stateless_rows"] == 3
    charged = next(each for each in results["failures"] if each["family"] is not None)
    assert (charged["assignor"], charged["family"], charged["rows"]) == (None, "unlucky", 6)
    assert "faulty_plugins.py" in charged["traceback"]
    failures = next(each for each in results["headline"]["figures"] if each["figure"] == "failures")
    assert failures["states"] == results["states"] - 3
    check_answered(values)
    assert capsys.readouterr().err == ""
    note_failures(values)
    assert "family unlucky failed in 6 rows: KeyError: 'no group for seed 0'" in capsys.readouterr().err


@pytest.mark.usefixtures("faulty")
def test_a_run_without_any_answer_ends_with_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    summary = scored((Generated("unlucky", 2, 0),), ("sticky",), tmp_path / "out")
    with pytest.raises(typer.Exit) as left:
        check_answered(summary_of(summary).results)
    assert left.value.exit_code == 1
    assert "family unlucky: KeyError: 'no group for seed 0'" in capsys.readouterr().err
    said = remarks(summary_of(summary).results)
    assert said == ["Family unlucky gave no state for 2 rows: see failures."]
    write_report(summary_of(summary), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "had no state to answer" in page
    assert "faulty-plugins" in page


@pytest.mark.usefixtures("faulty")
def test_a_plugin_whose_name_is_taken_is_an_entry_of_the_summary(tmp_path: Path) -> None:
    results = scored((Generated("streams_4x40", 1, 0),), ("high_availability",), tmp_path / "out")["results"]
    refused = {(each["kind"], each["name"], each["distribution"]) for each in results["refused_plugins"]}
    assert refused == {
        ("metric", "process_load_excess", "faulty-plugins"),
        ("task-assignor", "sticky", "faulty-plugins"),
    }


def test_a_contender_whose_every_call_fails_is_never_described(tmp_path: Path) -> None:
    found = scored([Generated("streams_4x40", 1, 11)], ["sticky", f"{NAMED}Raises"], tmp_path / "out")
    raises = f"{NAMED}Raises"
    assert [each["assignor"] for each in found["run_metrics"]["assign_ms"]] == ["sticky"]
    assert [each["assignor"] for each in found["results"]["agreement"]] == []
    failures = next(each for each in found["results"]["headline"]["figures"] if each["figure"] == "failures")
    assert {each["assignor"]: each["mean"] for each in failures["of"]} == {"sticky": 0.0, raises: 1.0}
    assert verdict(summary_of(found).results) == f"sticky is the only contender with an answer: {raises} had none."
