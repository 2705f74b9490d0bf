"""The best order of a roll, compared with every order of a small group."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app
from assignor_lab.planning.making import Options, PlanError
from assignor_lab.planning.orders.aims import OrderAims, aims_of
from assignor_lab.planning.orders.answer import UnmetLimitsError, best_order
from assignor_lab.planning.orders.bounds import AloneSteps
from assignor_lab.planning.orders.figures import FIGURES, OrderTrial
from assignor_lab.planning.orders.group import OrderedGroup
from assignor_lab.planning.orders.making import WantedOrder, check_wanted
from assignor_lab.planning.orders.order import Conditions, Order, batches_words
from assignor_lab.planning.orders.search import FoundOrder, OrderSearch, search
from tests.planning.consumer_groups import classic_group
from tests.planning.ordered_groups import all_orders, group_document, ordered, ordered_of_kind, written

pytestmark = pytest.mark.slow

EXACT = OrderSearch(draws=1, plays=4_000, tolerance=0.0)


def enumerated(found: FoundOrder, loads: list[int], conditions: list[Conditions], **changes: Any) -> float:
    """The least deciding figure of all allowed orders, each played."""
    group = ordered_group(loads, **changes)
    figures = [
        medians([group.trial(Order(batches, each), draw) for draw in range(EXACT.draws)])
        for batches in all_orders(group.names)
        for each in conditions
    ]
    return min(each[found.aims.minimize] for each in figures if found.aims.allows(each))


def medians(trials: list[OrderTrial]) -> dict[str, float]:
    return {name: median(each.figures[name] for each in trials) for name in FIGURES}


def ordered_group(loads: list[int], *, leave: bool = False, **changes: Any) -> Any:
    return ordered(group_document(loads, **changes), leave=leave)


@pytest.mark.parametrize(
    ("loads", "changes", "minimize"),
    [
        ([2, 2, 2], {}, "duration_seconds"),
        ([3, 1, 2], {"static": True}, "task_seconds"),
        ([2, 2, 2], {"leave": True}, "duration_seconds"),
        ([2, 2, 2], {"leave": True}, "worst_task_seconds"),
        ([2, 1, 1], {"neighbour": 0}, "duration_seconds"),
    ],
    ids=str,
)
def test_the_best_order_is_that_of_a_full_enumeration(loads: list[int], changes: dict[str, Any], minimize: str) -> None:
    conditions = [Conditions(), Conditions(wait="calm")]
    found = search(ordered_group(loads, **changes), conditions, aims_of(minimize, ()), EXACT)
    assert found.is_proved
    assert found.best is not None
    assert found.best.figures[minimize] == enumerated(found, loads, conditions, **changes)


@pytest.mark.long
@pytest.mark.parametrize(
    ("loads", "changes"),
    [([2, 2, 2, 2], {}), ([5, 1, 2, 4], {}), ([2, 2, 2, 2], {"leave": True}), ([1, 1, 1, 1, 1], {"static": True})],
    ids=str,
)
def test_the_best_of_four_and_five_instances_is_that_of_a_full_enumeration(
    loads: list[int], changes: dict[str, Any]
) -> None:
    found = search(ordered_group(loads, **changes), [Conditions()], aims_of("duration_seconds", ()), EXACT)
    assert found.is_proved
    assert found.best is not None
    assert found.best.figures["duration_seconds"] == enumerated(found, loads, [Conditions()], **changes)


#: Groups whose steps have no long wait that bounds them: their steps alone do.
KINDS = ("leave", "streams", "connect", "classic", "classic-static", "consumer", "consumer-static")


def enumerated_of(group: OrderedGroup, found: FoundOrder, conditions: list[Conditions], draws: int) -> float:
    figures = [
        medians([group.trial(Order(batches, each), draw) for draw in range(draws)])
        for batches in all_orders(group.names)
        for each in conditions
    ]
    return min(each[found.aims.minimize] for each in figures if found.aims.allows(each))


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_order_of_each_kind_is_that_of_a_full_enumeration(kind: str) -> None:
    group = ordered_of_kind(kind, 3)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), EXACT)
    assert found.is_proved
    assert found.best is not None
    assert found.best.figures["duration_seconds"] == enumerated_of(group, found, [Conditions()], EXACT.draws)


@pytest.mark.long
@pytest.mark.parametrize("minimize", ["duration_seconds", "task_seconds", "worst_task_seconds"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_order_and_wait_of_each_kind_is_that_of_a_full_enumeration(kind: str, minimize: str) -> None:
    group, conditions = ordered_of_kind(kind, 3), [Conditions(), Conditions(wait="calm")]
    found = search(group, conditions, aims_of(minimize, ()), EXACT)
    assert found.is_proved
    assert found.best is not None
    assert found.best.figures[minimize] == enumerated_of(group, found, conditions, EXACT.draws)


@pytest.mark.long
@pytest.mark.parametrize("draws", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_order_of_four_instances_of_each_kind_is_that_of_a_full_enumeration(kind: str, draws: int) -> None:
    group = ordered_of_kind(kind, 4)
    how = OrderSearch(draws=draws, plays=4_000, tolerance=0.0)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), how)
    assert found.is_proved
    assert found.best is not None
    assert found.best.figures["duration_seconds"] == enumerated_of(group, found, [Conditions()], draws)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["classic", "classic-static", "consumer-static", "connect"])
def test_the_best_order_of_five_members_without_state_is_that_of_a_full_enumeration(kind: str) -> None:
    group = ordered_of_kind(kind, 5)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), EXACT)
    assert found.is_proved
    assert found.best is not None
    assert found.best.figures["duration_seconds"] == enumerated_of(group, found, [Conditions()], EXACT.draws)


@pytest.mark.parametrize("kind", ["classic-static", pytest.param("consumer-static", marks=pytest.mark.long)])
def test_twelve_static_consumers_are_proved(kind: str) -> None:
    group = ordered_of_kind(kind, 12)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=3))
    assert (found.is_proved, found.keeps_owners, found.shares) == (True, True, None)
    assert found.bound >= 0.99 * found.best.figures["duration_seconds"]  # type: ignore[union-attr]


def test_a_step_that_is_shorter_than_alone_lowers_the_bound() -> None:
    steps = AloneSteps({"a": 4.0, "b": 5.0}, {"a": 3.0, "b": 3.0})
    order, loads = Order((("a", "b"),)), {"a": 2, "b": 2}
    figures = dict.fromkeys(FIGURES, 4.0)
    assert not steps.learns(order, OrderTrial(figures, figures, (5.0,), keeps_owners=False), (), loads)
    assert steps.step(("a", "b"), 0) == 5.0
    assert steps.learns(order, OrderTrial(figures, figures, (4.1,), keeps_owners=False), (0.1,), loads)
    assert steps.step(("a", "b"), 0) <= 4.0
    assert steps.step(("a",), 1) <= 0.8 * 3.0
    assert steps.away_share == 1.0
    fewer = {**figures, "tasks_at_once": 1.0}
    assert steps.learns(order, OrderTrial(fewer, fewer, (6.0,), keeps_owners=False), (), loads)
    assert steps.away_share == 0.25


@pytest.mark.long
def test_the_best_of_six_instances_is_that_of_all_4683_orders() -> None:
    changes, loads = {"static": True}, [1] * 6
    found = search(ordered_group(loads, **changes), [Conditions()], aims_of("duration_seconds", ()), EXACT)
    assert found.is_proved
    assert found.best is not None
    assert len(list(all_orders([str(number) for number in range(6)]))) == 4683
    assert found.best.figures["duration_seconds"] == enumerated(found, loads, [Conditions()], **changes)


@pytest.mark.long
@pytest.mark.parametrize("changes", [{}, {"static": True}], ids=str)
def test_twelve_instances_are_proved_within_a_hundredth(changes: dict[str, Any]) -> None:
    group = ordered(group_document([1] * 12, **changes))
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=3))
    assert found.is_proved
    assert found.best is not None
    assert len(found.best.order.batches) == 2
    assert found.bound >= 0.99 * found.best.figures["duration_seconds"]


def test_the_bound_has_the_delays_of_looks_that_all_orders_share() -> None:
    group = ordered(group_document([2] * 12))
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=3))
    assert found.best is not None
    assert found.bound >= 0.999 * found.best.figures["duration_seconds"]
    assert found.plays < 60


def test_instances_with_the_only_ready_copies_of_each_other_stay_apart() -> None:
    group = ordered_group([3, 3, 3, 3], leave=True)
    found = search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=2))
    assert found.best is not None
    assert sorted(found.best.order.batches) == [("d1", "d3"), ("d2", "d4")]
    assert found.best.figures["worst_task_seconds"] <= found.one_by_one.figures["worst_task_seconds"]


def test_limits_that_no_order_meets_name_the_nearest_one_and_what_it_breaks() -> None:
    group = ordered_group([2, 2, 2])
    found = search(group, [Conditions()], aims_of("duration_seconds", ["worst_task_seconds=5"]), EXACT)
    assert (found.best, found.is_proved) == (None, True)
    with pytest.raises(
        UnmetLimitsError, match=r"no order keeps the limits: the nearest one, .* worst_task_seconds 10\."
    ):
        best_order(group, found, EXACT, lambda order, plan: pytest.fail("no order is predicted"))


def test_the_same_draws_give_the_same_answer_on_any_number_of_processes() -> None:
    group = ordered_group([2, 2, 2])
    one, two = (
        search(group, [Conditions()], aims_of("duration_seconds", ()), OrderSearch(draws=2, processes=number))
        for number in (1, 2)
    )
    assert (one.best, one.bound, one.plays) == (two.best, two.bound, two.plays)


@pytest.mark.parametrize(
    ("plan", "options", "message"),
    [
        ("scale", Options(to=3), "finds the order of a roll"),
        ("roll", Options(order=["d1"]), "leave out --order"),
        ("roll", Options(batch=2), "leave out --batch"),
        ("roll", Options(stuck=1), "plan it with --order"),
    ],
)
def test_options_that_leave_no_choice_are_refused(plan: str, options: Options, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        check_wanted(plan, options, WantedOrder(), is_best=True, has_others=False)


def test_limits_need_best() -> None:
    with pytest.raises(PlanError, match="are for plan SOURCE roll --best"):
        check_wanted("roll", Options(), WantedOrder(at_most=["rebalances=3"]), is_best=False, has_others=False)


@pytest.mark.parametrize(
    ("minimize", "limits", "message"),
    [
        ("speed", [], "the figures are duration_seconds"),
        ("dollars", [], "a plan has no prices"),
        ("duration_seconds", ["worst_task_seconds"], "write FIGURE=NUMBER"),
        ("duration_seconds", ["disk_bytes=3"], "each order needs the same disks"),
        ("duration_seconds", ["rebalances=3", "rebalances=4"], "given twice"),
        ("duration_seconds", ["rebalances=-1"], "write FIGURE=NUMBER"),
    ],
)
def test_a_limit_is_a_figure_and_a_number(minimize: str, limits: list[str], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        aims_of(minimize, limits)


def test_half_of_the_tasks_may_be_away_unless_a_limit_is_given() -> None:
    one_by_one = dict.fromkeys(FIGURES, 3.0)
    usual = OrderAims("duration_seconds", ()).with_usual(one_by_one, 20)
    assert {limit.figure: limit.most for limit in usual.limits} == {
        "worst_task_seconds": pytest.approx(3.4), "tasks_at_once": 10.0,
    }  # fmt: skip
    given = aims_of("duration_seconds", ["tasks_at_once=20"]).with_usual(one_by_one, 20)
    assert [(limit.figure, limit.is_given) for limit in given.limits] == [
        ("tasks_at_once", True), ("worst_task_seconds", False),
    ]  # fmt: skip


def test_batches_in_words() -> None:
    assert batches_words([("d2", "d4"), ("d1",), ("d3",)]) == "d2 and d4 together, then d1, then d3"


def test_the_command_prints_the_order_first_and_its_document_has_the_proof(tmp_path: Path) -> None:
    file = written(group_document([2, 2, 2, 2]), tmp_path)
    words = ["plan", str(file), "roll", "--best", "-c", "session.timeout.ms=10000", "--start-seconds=2", "--plays=2"]
    done = CliRunner().invoke(build_app(), [*words, "--json"])
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert made["sentence"].startswith("Restart d1 and d3 together, then d2 and d4 together: 2")
    assert made["sentence"].endswith(" as before.")
    assert made["proof"]["is_proved"]
    assert made["best"]["batches"] == made["plan"]["batches"] == [["d1", "d3"], ["d2", "d4"]]
    assert made["one_by_one"]["batches"] == [["d1"], ["d2"], ["d3"], ["d4"]]
    assert made["total"]["duration_seconds"]["high"] < made["one_by_one"]["total"]["duration_seconds"]["low"]
    done = CliRunner().invoke(build_app(), words)
    assert made["sentence"] in done.stdout


def test_a_permutation_without_a_gain_says_so(tmp_path: Path) -> None:
    file = written(group_document([2, 2], neighbour=0), tmp_path)
    words = ["plan", str(file), "roll", "--best", "-c", "session.timeout.ms=10000", "--start-seconds=2", "--plays=2"]
    done = CliRunner().invoke(build_app(), words)
    assert done.exit_code == 0, done.output
    assert "Restart one instance after the other: no allowed order is better." in done.stdout
    assert "No task has a ready copy on another instance." in done.stdout


def test_one_instance_has_one_order(tmp_path: Path) -> None:
    file = written(group_document([2], neighbour=0), tmp_path)
    done = CliRunner().invoke(build_app(), ["plan", str(file), "roll", "--best", "-c", "session.timeout.ms=10000"])
    assert "d1 is alone, and has one order: leave out --best" in str(done.exception)


def test_consumers_have_a_best_order(tmp_path: Path) -> None:
    file = tmp_path / "group.jsonl"
    file.write_text(json.dumps(classic_group(2, 4)) + "\n")
    words = ["plan", str(file), "roll", "--best", "--json", "--plays=2", "--search-plays=20"]
    done = CliRunner().invoke(build_app(), words)
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert sorted(name for batch in made["best"]["batches"] for name in batch) == ["c1", "c2"]
    assert made["proof"]["bound"] <= made["proof"]["best"]
