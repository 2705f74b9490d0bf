"""The way of a captured group to static jobs: properties, moved jobs and rounds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.cli.app import build_app

STATES = Path(__file__).parents[1] / "data" / "captures" / "connect-plans" / "delay-20" / "states.jsonl.gz"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    file = tmp_path / "state.jsonl"
    file.write_bytes(gzip.decompress(STATES.read_bytes()).splitlines(keepends=True)[0])
    return file


def members(state: Path) -> dict[str, list[str]]:
    found = json.loads(state.read_text())["rounds"][0]["members"]
    return {each["id"]: [*each["owned"]["connectors"], *each["owned"]["tasks"]] for each in found}


def run(state: Path, *words: str) -> Any:
    return CliRunner().invoke(build_app(), ["connect", "plan-static", str(state), *words])


def planned(state: Path, *words: str) -> Any:
    done = run(state, *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def after(state: Path, plan: Any) -> dict[str, str]:
    places = {job: worker for worker, jobs in members(state).items() for job in jobs}
    return {**places, **{each["job"]: each["after"] for each in plan["moved"]}}


@pytest.mark.parametrize("count", [1, 2])
def test_an_isolated_connector_runs_on_its_workers_alone(state: Path, count: int) -> None:
    alone = list(members(state))[:count]
    plan = planned(state, "--isolate", f"orders={','.join(alone)}")
    for job, worker in after(state, plan).items():
        assert (worker in alone) == (job.partition("-")[0] == "orders")
    assert sum(each["stopped"] for each in plan["rounds"]) == len(plan["moved"])
    assert sum(each["started"] for each in plan["rounds"]) == len(plan["moved"])
    assert [name for name, keys in plan["workers"].items() if "static.tasks" in keys] == alone


def test_two_connectors_have_workers_of_their_own(state: Path) -> None:
    one, two, rest = members(state)
    plan = planned(state, "--isolate", f"orders={one}", "--isolate", f"parcels={two}")
    wanted = {"orders": one, "parcels": two}
    assert all(worker == wanted.get(job.partition("-")[0], rest) for job, worker in after(state, plan).items())


def test_weights_and_sizes_give_lists_for_every_worker(state: Path) -> None:
    plan = planned(state, "--weight", "orders=3", "--size", f"{next(iter(members(state)))}=6.5")
    assert all("static.tasks" in keys for keys in plan["workers"].values())
    listed = [job for keys in plan["workers"].values() for job in keys["static.tasks"].split(",")]
    assert len(listed) == len(set(listed)) == 12
    assert planned(state, "--weight", "orders=3", "--size", f"{next(iter(members(state)))}=6.5") == plan


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--isolate", "nothing=w"), "'nothing' is no connector of the group: use one of notes, orders"),
        (("--isolate", "orders=w"), "'w' is no worker of the group"),
        (("--isolate", "orders"), "expected CONNECTOR=WORKER"),
        (("--weight", "orders=many"), "is no number from 0"),
        (("--wildcard", "w"), "'w' is no worker"),
        (("--isolate", "orders=w", "--weight", "orders=2"), "--isolate needs no weights"),
        (("--url", "http://127.0.0.1:1"), "one of the two"),
    ],
)
def test_wrong_options_are_refused_with_the_remedy(state: Path, words: tuple[str, ...], message: str) -> None:
    done = run(state, *words)
    assert done.exit_code != 0
    assert message in " ".join((str(done.exception) + done.output).replace("│", " ").split())


def test_a_plan_that_leaves_connectors_without_a_worker_is_refused(state: Path) -> None:
    done = run(state, "--isolate", f"orders={','.join(members(state))}")
    assert "the other connectors would not run: leave a worker out" in str(done.exception)
