"""The forms of the best order: for Kubernetes, and as a script that a shell runs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignor_lab.planning.making import PlanError
from assignor_lab.planning.orders.answer import BestOrder
from assignor_lab.planning.orders.forms import kubernetes_form, script_form
from assignor_lab.planning.orders.making import WantedOrder, found_order
from assignor_lab.planning.orders.order import Conditions, Order
from assignor_lab.planning.predicted import played_plan, predicted
from assignor_lab.watching.planned import read_planned
from assignor_lab.watching.since import read_since
from tests.planning.ordered_groups import group_document, ordered

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def answer() -> BestOrder:
    group = ordered(group_document([1, 1], static=True))

    def predict(order: Order, plan: Any) -> Any:
        variant = group.variants[""]
        played = played_plan(variant.state, plan, variant.terms.registry, variant.terms.sources, "0")
        return predicted([played], [step.name for step in plan.steps])

    return found_order(group, [Conditions()], WantedOrder(plays=20), 1, predict)


def with_order(answer: BestOrder, *batches: tuple[str, ...], **conditions: Any) -> BestOrder:
    steps = tuple(answer.prediction.steps[0] for _ in batches)
    order = Order(batches, Conditions(**conditions))
    return attrs.evolve(answer, order=order, prediction=attrs.evolve(answer.prediction, steps=steps))


def document(answer: BestOrder) -> dict[str, Any]:
    text = kubernetes_form(answer)
    made: dict[str, Any] = json.loads("\n".join(line for line in text.splitlines() if not line.startswith("#")))
    return made


def test_the_highest_numbers_first_are_steps_of_a_partition(answer: BestOrder) -> None:
    made = document(with_order(answer, ("orders-2", "orders-3"), ("orders-0", "orders-1")))
    assert (made["strategy"], made["statefulset"]) == ("partition", "orders")
    updates = [step["spec"]["updateStrategy"]["rollingUpdate"] for step in made["steps"]]
    assert updates == [{"partition": 2, "maxUnavailable": 2}, {"partition": 0, "maxUnavailable": 2}]
    assert made["steps"][0]["commands"][1] == "kubectl rollout status statefulset orders"


@pytest.mark.parametrize(
    "batches",
    [
        (("orders-1", "orders-3"), ("orders-0", "orders-2")),
        (("orders-3", "orders-4"), ("orders-1", "orders-2")),
        (("a", "b"), ("c",)),
    ],
)
def test_another_order_is_a_list_of_pods_to_delete(answer: BestOrder, batches: tuple[tuple[str, ...], ...]) -> None:
    made = document(with_order(answer, *batches))
    assert made["strategy"] == "delete"
    assert made["spec"]["updateStrategy"]["type"] == "OnDelete"
    assert [tuple(step["pods"]) for step in made["steps"]] == list(batches)
    first, last = batches[0]
    assert made["steps"][0]["commands"][0] == f"kubectl delete pod/{first} pod/{last}"


def test_successors_that_start_first_are_a_deployments_surge(answer: BestOrder) -> None:
    made = document(with_order(answer, ("a", "b"), ("c",), surge=2, wait=5_500))
    assert made["spec"] == {
        "minReadySeconds": 6,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 0}},
    }


@pytest.mark.parametrize("name", ["a b", "$(x)", "Upper", "-a", "a\nb", ""])
def test_kubernetes_has_no_pod_of_a_hostile_name(answer: BestOrder, name: str) -> None:
    with pytest.raises(PlanError, match="no name of a pod"):
        kubernetes_form(with_order(answer, (name,), ("b",)))


HOSTILE = ("a b", "$(touch pwned)", "d'1", "; touch pwned", "`touch pwned`", "two\nlines", "*", "ü")


def run(script: str, folder: Path, *, findings_at: int = 0, is_ready: bool = True) -> subprocess.CompletedProcess[str]:
    """Runs a script; ``assignor check`` has findings in the call of this number."""
    for name, text in {
        "assignor": f'echo x >> "{folder}/checks"\n[ "$(wc -l < "{folder}/checks")" -ne {findings_at} ]\n',
        "restart": f'printf "%s\\0" "$1" >> "{folder}/restarted"\n',
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    environment = {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "RESTART": "restart",
        "READY": "true" if is_ready else "false",
        "RECORDED": "past",
    }
    return subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def restarted(folder: Path) -> list[str]:
    return (folder / "restarted").read_text().split("\0")[:-1] if (folder / "restarted").exists() else []


def test_a_script_restarts_instances_of_hostile_names_and_runs_nothing_else(answer: BestOrder, tmp_path: Path) -> None:
    done = run(script_form(with_order(answer, HOSTILE[:4], HOSTILE[4:])), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(restarted(tmp_path)[:4]) == sorted(HOSTILE[:4])
    assert sorted(restarted(tmp_path)) == sorted(HOSTILE)
    assert not (tmp_path / "pwned").exists()


def test_a_script_notes_its_restarts_for_the_checks(answer: BestOrder, tmp_path: Path) -> None:
    script = script_form(with_order(answer, HOSTILE[:4], HOSTILE[4:]))
    run(script, tmp_path)
    first = read_planned(tmp_path / "past.restarts").times_ms
    assert set(first) == set(HOSTILE)
    run(script, tmp_path)
    assert {len(times) for times in read_planned(tmp_path / "past.restarts").times_ms.values()} == {2}
    assert '--planned "$PLANNED"' in script


def test_a_script_restarts_nothing_that_it_cannot_note(answer: BestOrder, tmp_path: Path) -> None:
    (tmp_path / "past.restarts").mkdir()
    done = run(script_form(with_order(answer, ("a",), ("b",))), tmp_path)
    assert done.returncode == 1
    assert "set PLANNED to a file" in done.stderr
    assert restarted(tmp_path) == []


def test_a_script_stops_if_the_group_leaves_the_plan(answer: BestOrder, tmp_path: Path) -> None:
    done = run(script_form(with_order(answer, ("a",), ("b",), ("c",))), tmp_path, findings_at=2)
    assert done.returncode == 1
    assert "stopped: the group leaves the plan" in done.stderr
    assert restarted(tmp_path) == ["a"]


def test_assignor_check_takes_the_file_of_a_script(answer: BestOrder, tmp_path: Path) -> None:
    script = script_form(with_order(answer, ("a",), ("b",)))
    (value,) = [line.split('"')[3] for line in script.splitlines() if "assignor check" in line and "--since" in line]
    assert read_since(value.replace("$work", str(tmp_path)), 0).file == tmp_path / Path(value).name


def test_a_script_stops_at_an_instance_that_is_not_ready(answer: BestOrder, tmp_path: Path) -> None:
    script = script_form(with_order(answer, ("a",), ("b",)))
    lines = [
        line if not line.startswith("plan_restart ") else f"plan_restart 1 {line.split()[2]}"
        for line in script.splitlines()
    ]
    done = run("\n".join(lines), tmp_path, is_ready=False)
    assert done.returncode == 1
    assert "not in time: false a" in done.stderr
    assert restarted(tmp_path) == ["a"]


def test_a_script_refuses_a_name_that_is_an_option(answer: BestOrder) -> None:
    with pytest.raises(PlanError, match="for an option"):
        script_form(with_order(answer, ("--all",), ("b",)))


def test_a_script_waits_until_the_group_is_at_rest(answer: BestOrder) -> None:
    script = script_form(with_order(answer, ("a",), ("b",), wait="calm"))
    assert "$CALM" in script
    assert "sleep 5\n" in script_form(with_order(answer, ("a",), ("b",), wait=5_000))
