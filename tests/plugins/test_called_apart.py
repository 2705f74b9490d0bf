"""Metrics, families and observers of plugins in their own processes: each affects only its own rows."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import dedent
from typing import Any

import pyarrow.parquet as pq
import pytest

from assignment_api.plugins import config_sources
from assignor_lab.run import run_scoring
from assignor_lab.runtime.discovery import Plugins, discovered
from assignor_lab.runtime.isolation.errors import IsolationError
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.engine.in_process import InProcess
from assignor_lab.scoring.output.folder import RESULTS, OutputFolder
from assignor_lab.scoring.sources.parts import Generated
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.scoring.terms import ScoringRun
from tests.plugins.bad_imports import NOTE, install_good, left_running, started
from tests.plugins.installing import installed_in, write_distribution

pytestmark = pytest.mark.slow

METRICS = """
    import os, time
    from assignment_api.plugins import MetricPlugin, hookimpl

    def hangs(application, assignment):
        time.sleep(3600)

    def dies(application, assignment):
        os._exit(0)

    def raises(application, assignment):
        raise LookupError("nowhere")

    FIGURES = {
        "counts": lambda application, assignment: len(application.all_tasks()),
        "hangs": hangs,
        "dies": dies,
        "raises": raises,
        "not_a_number": lambda application, assignment: float("nan"),
        "a_text": lambda application, assignment: "many",
        "huge": lambda application, assignment: 10**400,
        "unknown": lambda application, assignment: None,
    }

    @hookimpl
    def assignor_lab_metrics():
        return [MetricPlugin(name, "1", "none", "", compute) for name, compute in FIGURES.items()]
"""
FAMILIES = """
    import time
    from assignment_api.plugins import ScenarioFamily, hookimpl

    class Endless:
        def __init__(self, seed):
            pass

        def round(self, number, previous):
            while True:
                time.sleep(1)

    class Nonsense(Endless):
        def round(self, number, previous):
            return {"format": object()}

    def slow(seed):
        time.sleep(0.5)
        return 1.0

    @hookimpl
    def assignor_lab_scenario_families():
        return [
            ScenarioFamily("endless", "", 2, Endless),
            ScenarioFamily("nonsense", "", 2, Nonsense, size=len),
            ScenarioFamily("dawdling", "", 2, Endless, size=slow),
        ]
"""
OBSERVER = """
    import os, time
    from assignment_api.plugins import hookimpl

    @hookimpl
    def assignor_lab_assignment_computed(assignor):
        if os.fork() == 0:
            os.setsid()
            note_this_process()
            time.sleep(3600)
        raise OSError(f"no room for {assignor}")
"""
LIMITS = ("assignor.plugins.call.timeout.ms=1000", "assignor.plugins.memory.mb=300")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the plugin path, with no other plugins than our own."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("assignment_api.plugins.discovery.distributions", lambda: installed_in(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    # No module of a plugin was ever imported here.
    added = [getattr(sys.modules[name], "__file__", None) for name in set(sys.modules) - before]
    assert [file for file in added if file and file.startswith(str(tmp_path))] == []


def rows_of(
    site: Path, family: str, assignors: Sequence[str], count: int = 1, overrides: Sequence[str] = LIMITS
) -> list[dict[str, Any]]:
    config = config_sources(overrides=overrides, environ={}, start=site)
    plugins: Plugins = discovered(config.effective())
    registry, engine = plugins.registry, InProcess()
    with (
        plan_sources([Generated(family, count)], registry, config.above) as plan,
        OutputFolder(site / "out") as folder,
    ):
        competing = found_contenders(registry, assignors, kind=plan.kind)
        run_scoring(ScoringRun(registry, competing, plan, config, described=plugins.described), engine, folder)
    engine.close()
    rows: list[dict[str, Any]] = pq.read_table(site / "out" / RESULTS).to_pylist()
    return rows


def errors_of(row: Mapping[str, Any]) -> dict[str, str]:
    return {text.partition(": ")[0]: text.partition(": ")[2] for text in row["metric_errors"] or ()}


def test_what_a_metric_does_costs_its_own_figures(site: Path) -> None:
    write_distribution(site, "measuring", {"measuring": METRICS}, {"measuring": "measuring"})
    first, *later = rows_of(site, "streams_4x40", ["sticky"])
    assert len(later) == 7
    assert {row["counts"] for row in (first, *later)} == {40.0}
    for row in (first, *later):
        assert row["error_type"] is None
        assert [row[name] for name in ("hangs", "dies", "raises", "not_a_number", "a_text", "huge")] == [None] * 6
        said = errors_of(row)
        assert said["raises"] == "LookupError: nowhere"
        assert "unknown" not in said
        assert said["not_a_number"].startswith("ValueError: the metric returned nan")
        assert said["a_text"].startswith("TypeError: the metric returned")
        assert said["huge"].startswith("OverflowError")
    assert errors_of(first)["hangs"].startswith("DeadlineExceededError: metric hangs of measuring did not answer")
    assert {errors_of(row)["hangs"].partition(":")[0] for row in later} == {"ExcludedError"}
    died = [errors_of(row)["dies"].partition(":")[0] for row in (first, *later)]
    assert died == ["ProcessDiedError"] * 3 + ["ExcludedError"] * 5


def test_a_family_that_never_answers_is_asked_once_in_an_item_and_not_for_ever(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assignor_lab.scoring.engine.exclusion.MAX_POINTS", 8)
    write_distribution(site, "making", {"making": FAMILIES}, {"making": "making"})
    rows = rows_of(site, "endless", ["sticky", "static"], count=3, overrides=("assignor.plugins.call.timeout.ms=300",))
    said = [(row["item"], row["error_type"]) for row in rows if (row["assignor"], row["round"]) == ("static", 0)]
    others = [row["error_message"] for row in rows if row["error_type"] == "DeadlineExceededError"]
    assert [item for item, _ in said] == [0, 1, 2]
    assert all(message.startswith("scenario family endless of making did not answer") for message in others)
    assert {row["error_type"] for row in rows if row["item"] == 2} == {"ExcludedError"}
    assert "in this run" in next(row["error_message"] for row in rows if row["item"] == 2)


def test_sizes_that_take_too_long_in_all_are_not_asked_for_any_more(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assignor_lab.runtime.discovery.entries.SIZES_SECONDS", 0.3)
    write_distribution(site, "making", {"making": FAMILIES}, {"making": "making"})
    family = discovered(None).registry.family("dawdling").plugin
    assert family.size is not None
    assert family.size(1) == 1.0
    with pytest.raises(IsolationError, match="takes too long for its sizes"):
        family.size(2)


def test_a_document_that_is_none_is_a_failed_row(site: Path) -> None:
    write_distribution(site, "making", {"making": FAMILIES}, {"making": "making"})
    (row, _) = rows_of(site, "nonsense", ["sticky"])
    assert (row["error_type"], "object is nothing of it" in row["error_message"]) == ("TypeError", True)


def test_an_observer_that_fails_and_forks_changes_nothing_and_leaves_nothing(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = NOTE.replace("{started!r}", repr(str(site / "started"))).removesuffix("note_this_process()\n")
    source = note + dedent(OBSERVER)
    write_distribution(site, "watching", {"watching": source}, {"watching": "watching"})
    rows = rows_of(site, "streams_4x40", ["sticky"])
    assert {row["error_type"] for row in rows} == {None}
    assert "observer watching of watching: OSError: no room for sticky" in capsys.readouterr().err
    assert len(started(site)) == 8
    assert left_running(site) == []


def test_a_good_family_and_metric_give_the_same_rows_wherever_they_run(site: Path) -> None:
    install_good(site)
    apart = rows_of(site, "good_family", ["sticky", "good_greedy"], count=2)
    assert [row["good_clients"] for row in apart if row["assignor"] == "good_greedy"] == [1.0] * 6


def test_executors_take_the_word_of_the_driver(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_good(site)
    first = discovered(None)
    told = first.described
    assert {name for each in told for name in [each.origin.distribution]} == {
        *("good-assignor", "good-connect", "good-others")
    }
    # Another import would fail now.
    monkeypatch.setattr(sys.modules[discovered.__module__], "_descriptions", None)
    again = discovered(None, described=told)
    assert again.registry.listing() == first.registry.listing()
    assert again.described == told
    assert again.registry.task_assignor("good-alias").distribution == "good-assignor"
    assert again.registry.families()[-1].name == "good_family"


def trusting(site: Path, *items: str) -> Plugins:
    words = [f"assignor.plugins.trust={','.join(items)}"]
    return discovered(config_sources(overrides=words, environ={}, start=site).effective())


@pytest.mark.parametrize("item", ["good-assignor", "Good.Assignor", "good-assignor:good_greedy"])
def test_what_is_trusted_by_its_distribution_is_imported_here(site: Path, item: str) -> None:
    install_good(site)
    made = trusting(site, item).registry.task_assignor("good_greedy").create()
    assert type(made).__name__ == "Greedy"
    del sys.modules["good_assignor_module"]


def test_the_name_of_a_plugin_alone_trusts_nobody_and_that_is_said(site: Path) -> None:
    """The fixture detects any import here."""
    install_good(site)
    registry = trusting(site, "good_greedy", "nobody-at-all").registry
    assert registry.task_assignor("good_greedy").distribution == "good-assignor"
    reasons = {row.name: row.reason for row in registry.listing() if row.kind == "policy"}
    assert "write good-assignor:good_greedy, or name the distribution" in reasons["good_greedy"]
    assert "no distribution with plugins has this name" in reasons["nobody-at-all"]


TAKES_TRUST = """
    import assignor_lab.runtime.discovery.handlers as handlers
    from assignment_api import TaskAssignor
    from assignment_api.plugins import TaskAssignorPlugin, hookimpl

    @hookimpl
    def assignor_lab_task_assignors():
        return [TaskAssignorPlugin("taker", TaskAssignor)]

    honest = handlers.document_of

    def forged(reply):
        document = honest(reply)
        for offer in document["offers"]:
            offer[1]["name"] = {name!r}
        return document

    handlers.document_of = forged
"""


@pytest.mark.parametrize("name", ["good_greedy", "good-assignor:good_greedy", "some_module:Assignor"])
def test_who_takes_a_name_that_is_trusted_is_not_imported_here(site: Path, name: str) -> None:
    """By its entry point, and by its offer; the fixture detects any import here."""
    write_distribution(site, "taker", {"taker": TAKES_TRUST.replace("{name!r}", repr(name))}, {name: "taker"})
    rows = trusting(site, "good-assignor:good_greedy", "some_module:Assignor", "good_greedy").registry.listing()
    assert [row.version for row in rows if row.distribution == "taker"] == ["1.0"]


def test_a_name_that_two_distributions_have_trusts_neither(site: Path) -> None:
    install_good(site)
    write_distribution(site, "good-assignor", {"taker": "raise SystemExit"}, {"taker": "taker"}, "9.9")
    rows = trusting(site, "good-assignor").registry.listing()
    told = [row.reason for row in rows if row.distribution == "good-assignor"]
    assert any("two distributions have this name" in reason for reason in told)
