"""Bad input of ``plan roll --best`` and ``plan scale --to A..B``, over the kinds of groups."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from assignor_lab.cli.app import build_app
from tests.planning.consumer_groups import classic_group, consumer_group, written
from tests.planning.ordered_groups import group_document

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
PLANS = DATA / "captures" / "plans"


def _captured(name: str) -> Callable[[Path], list[str]]:
    return lambda _: [str(PLANS / name / "capture.jsonl"), "--config", str(PLANS / name / "application.properties")]


def _consumers(make: Callable[..., dict[str, object]]) -> Callable[[Path], list[str]]:
    return lambda folder: [str(written(folder / "group.jsonl", make()))]


def _connect(folder: Path) -> list[str]:
    document = json.loads((DATA / "public" / "connect-roll.json").read_text("utf-8"))["initial"]
    return [str(written(folder / "group.jsonl", document))]


#: Kind to its source, of three members each.
SOURCES: dict[str, Callable[[Path], list[str]]] = {
    "classic": _captured("P1"),
    "streams protocol": _captured("P5"),
    "connect": _connect,
    "consumers": _consumers(classic_group),
    "consumers, KIP-848": _consumers(consumer_group),
}
KINDS = pytest.mark.parametrize("kind", SOURCES)


def run(source: list[str], plan: str, *words: str) -> Result:
    return CliRunner().invoke(build_app(), ["plan", source[0], plan, *source[1:], "--plays=1", "--processes=1", *words])


def error(done: Result) -> str:
    assert done.exit_code != 0, done.output
    assert type(done.exception).__name__ not in ("KeyError", "IndexError", "TypeError", "AttributeError", "ValueError")
    return " ".join(f"{done.exception} {done.output}".split())


@KINDS
def test_limits_that_nothing_meets_name_the_nearest_order_and_what_it_breaks(kind: str, tmp_path: Path) -> None:
    words = ("--best", "--at-most", "duration_seconds=0.5", "--search-plays=10")
    said = error(run(SOURCES[kind](tmp_path), "roll", *words))
    assert "the nearest one, " in said
    assert "(at most 0.5)" in said
    assert "Raise --at-most, allow other settings (--may settings), or" in said
    said = error(run(SOURCES[kind](tmp_path), "roll", *words, "--may", "settings"))
    assert "Raise --at-most or give more plays" in said or "no other settings of membership" in said


@KINDS
def test_unknown_rates_are_no_column(kind: str, tmp_path: Path) -> None:
    done = run(SOURCES[kind](tmp_path), "scale", "--to", "2,4", "--json")
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["recommended"] is None
    assert made["input"]["needed"] is None
    assert made["input"]["unknown"]
    for row in made["counts"].values():
        assert (row["throughput"], row["break_even_seconds"], row["worst_lag"]) == (None, None, None)
    assert any("as the lag is unknown: give" in sentence for sentence in made["sentences"])


@KINDS
def test_a_trace_with_a_gap_is_refused_with_its_line(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "load.csv"
    file.write_text("time,records_per_second\n0,10\n60,10\n120,10\n7200,10\n7260,10\n")
    said = error(run(SOURCES[kind](tmp_path), "scale", "--to", "2,4", "--load", str(file), "--capacity", "500"))
    assert "load.csv, line 5, time: a gap of 7080 s" in said


@KINDS
@pytest.mark.parametrize(
    ("to", "reason"),
    [("0..4", "begin with 1"), ("-1..4", "write a range"), ("900,901", "is idle"), ("3,3", "already")],
)
def test_counts_below_one_and_above_the_tasks_are_refused(kind: str, to: str, reason: str, tmp_path: Path) -> None:
    assert reason in error(run(SOURCES[kind](tmp_path), "scale", f"--to={to}"))


# --- groups that do not rest --------------------------------------------------------------------------------

_LOOPS = "This group never rests after the plan: FallbackPriorTaskAssignor."
_FALLBACK = ("--assignor", "fallback_prior", "--start-seconds=2.2")


def test_the_best_order_of_a_group_in_a_loop_waits_for_no_rest_and_names_the_loop() -> None:
    done = run(_captured("P1")(PLANS), "roll", "--best", "--search-plays=10", *_FALLBACK, "--json")
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["restless"].startswith(_LOOPS)
    assert {each["wait"] for each in [made["best"], *made["alternatives"]]} == {"ready"}
    assert any("a minute after its last step" in each for each in made["assumptions"])


def test_a_wait_for_rest_is_refused_in_a_group_that_never_rests() -> None:
    said = error(run(_captured("P1")(PLANS), "roll", "--best", "--wait=calm", *_FALLBACK))
    assert f"--wait calm never ends. {_LOOPS}" in said


def test_the_best_order_of_a_group_in_a_rebalance_begins_when_it_is_over(tmp_path: Path) -> None:
    document = group_document([2, 2])
    del document["observed"]
    file = written(tmp_path / "group.jsonl", document)
    words = ("-c", "session.timeout.ms=10000", "--start-seconds=2", "--search-plays=10", "--json")
    done = run([str(file)], "roll", "--best", *words)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert any("comes to rest before the plan begins" in each for each in made["assumptions"])
    assert made["restless"] is None


def test_the_loop_of_a_group_that_scales_is_named_before_the_table() -> None:
    done = run(_captured("P1")(PLANS), "scale", "--to=4,4", *_FALLBACK)
    assert done.exit_code == 0, done.output
    shown = " ".join(done.stdout.split())
    assert _LOOPS in shown
    assert shown.index("never rests") < shown.index("as it is")
