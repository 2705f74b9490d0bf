"""Plugins with harmful imports, beside three good ones, in every command that searches for plugins."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pyarrow.parquet as pq
import pytest

from assignor_lab.scoring.output.folder import RESULTS
from assignor_lab.scoring.sources.parts import Generated
from tests.plugins.bad_imports import BAD, GOOD, install_bad, install_good, left_running, started
from tests.scenarios.documents import streams_document
from tests.scoring.in_process import scored
from tests.simulation.streams.episodes import document
from tests.simulation.streams.episodes import started as starts

pytestmark = [pytest.mark.slow, pytest.mark.long]

#: Seconds for a whole command: the limit of an import is 4, and a busy machine takes longer.
DEADLINE = 300
LIMITS = ("assignor.plugins.start.timeout.ms=4000", "assignor.plugins.memory.mb=400")
COMMANDS: dict[str, tuple[str, ...]] = {
    "plugins": ("plugins", "--json"),
    "assign": ("assign", "--assignor", "good_greedy", "states.jsonl"),
    "connect simulate": ("connect", "simulate", "worker-bounces", "--assignor", "good_first", "--json"),
    "simulate": ("simulate", "episode.jsonl", "--assignor", "good_greedy", "--json"),
    "bench": ("bench", "states.jsonl", "--assignor", "good_greedy", "--repeat", "1"),
    "score": (
        *("score", "--families", "good_family", "--count", "1", "--assignor", "sticky", "--assignor", "good_greedy"),
        *("--master", "local[1]", "--out", "{out}"),
    ),
}


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str


@attrs.frozen
class Site:
    good: Path
    bad: Path
    work: Path

    def run(self, name: str, *, beside_bad: bool) -> Ran:
        """Runs a command; a timeout fails the test."""
        folders = [self.good, *([self.bad] if beside_bad else [])]
        out = self.folder(beside_bad=beside_bad)
        words = [word.format(out=out) for word in COMMANDS[name]]
        words += [word for limit in LIMITS for word in ("-c", limit)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders)), "COLUMNS": "400"}
        done = subprocess.run(
            [sys.executable, "-m", "assignor_lab.cli.main", *words],
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def folder(self, *, beside_bad: bool) -> Path:
        return self.work / ("beside" if beside_bad else "alone")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    made = Site(*(tmp_path_factory.mktemp(name) for name in ("good", "bad", "work")))
    install_good(made.good)
    install_bad(made.bad)
    (made.work / "states.jsonl").write_text(json.dumps(streams_document()) + "\n")
    (made.work / "episode.jsonl").write_text(json.dumps(document([starts("a"), starts("b", 1)], records=1_000)) + "\n")
    return made


def of_good(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if not row["distribution"].startswith("bad-")]


def reasons_in(text: str) -> dict[str, bool]:
    """True for each bad plugin with its name and reason in one line of ``text``."""
    return {
        name: any(name in line and reason in line for line in text.splitlines())
        for name, (_, reason) in BAD.items()
        if reason is not None
    }


ALL_NAMED = {name: True for name, (_, reason) in BAD.items() if reason is not None}


def test_the_list_of_the_good_ones_is_the_same_and_each_bad_one_has_its_reason(site: Site) -> None:
    alone, beside = (site.run("plugins", beside_bad=bad) for bad in (False, True))
    assert (alone.code, beside.code) == (0, 0), beside.err
    rows = json.loads(beside.out)["plugins"]
    assert of_good(rows) == json.loads(alone.out)["plugins"]
    assert {row["distribution"] for row in of_good(rows)} >= set(GOOD)
    found = {row["name"]: (row["status"], row["reason"]) for row in rows if row["distribution"].startswith("bad-")}
    assert set(found) == set(BAD)
    for name, (_, reason) in BAD.items():
        status, said = found[name]
        assert (status, (reason or "") in said) == ("available" if reason is None else "broken", True), (name, said)
    assert len(started(site.bad)) > len(BAD)
    assert left_running(site.bad) == []


def test_an_answer_is_the_same_and_each_bad_one_is_named(site: Site) -> None:
    alone, beside = (site.run("assign", beside_bad=bad) for bad in (False, True))
    assert (alone.code, beside.code) == (0, 0), beside.err
    assert json.loads(alone.out)["error"] is None
    assert beside.out == alone.out
    assert reasons_in(beside.err) == ALL_NAMED
    assert left_running(site.bad) == []


@pytest.mark.parametrize("name", ["connect simulate", "simulate"])
def test_a_simulated_group_is_the_same_and_each_bad_one_is_named(site: Site, name: str) -> None:
    alone, beside = (site.run(name, beside_bad=bad) for bad in (False, True))
    assert (alone.code, beside.code) == (0, 0), beside.err
    assert beside.out == alone.out
    assert reasons_in(beside.err) == ALL_NAMED
    assert left_running(site.bad) == []


def test_a_good_one_is_timed_and_each_bad_one_is_named(site: Site) -> None:
    beside = site.run("bench", beside_bad=True)
    assert beside.code == 0, beside.err
    assert json.loads(beside.out)["assignor"] == "good_greedy"
    assert reasons_in(beside.err) == ALL_NAMED
    assert left_running(site.bad) == []


def test_nothing_of_others_was_taken_away_and_nothing_is_left_behind(site: Site) -> None:
    """Runs last."""
    assert (site.bad / "precious" / "file").read_text() == "precious"
    # Shared memory outlives its process.
    Path("/dev/shm/assignor-bad-import").unlink(missing_ok=True)


def test_the_rows_of_the_good_ones_are_the_same_and_each_bad_one_is_named(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = site.run("score", beside_bad=True)
    assert beside.code == 0, beside.err
    # Alone, without Spark, and in this process: rows do not depend on that.
    monkeypatch.syspath_prepend(str(site.good))
    scored([Generated("good_family", 1)], ("sticky", "good_greedy"), site.folder(beside_bad=False))
    rows, others = (pq.read_table(site.folder(beside_bad=bad) / RESULTS).to_pylist() for bad in (False, True))
    assert {row["assignor"] for row in rows} == {"good_greedy", "sticky"}
    assert [row["good_clients"] for row in rows if row["assignor"] == "good_greedy"] == [1.0] * 3
    assert {row["error_type"] for row in rows} == {None}
    assert others == rows
    assert reasons_in(beside.err) == ALL_NAMED
    assert left_running(site.bad) == []
