"""``assignor connect fuzz``: random episodes against the safety rules."""

from __future__ import annotations

import json
import shlex

import pytest
from typer.testing import CliRunner, Result

from assignment_api.connect import ConnectAssignment, ConnectAssignor, Rebalance, WorkerAssignment
from assignor_lab.cli.app import build_app
from assignor_lab.simulation.connect.fuzzing import fuzz

pytestmark = [pytest.mark.slow, pytest.mark.long]

FORGETFUL = "tests.simulation.test_connect_fuzz:Forgetful"


class Forgetful(ConnectAssignor):
    """Assigns nothing."""

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        return ConnectAssignment({worker.member_id: WorkerAssignment() for worker in rebalance.workers})


class Failing(ConnectAssignor):
    """Always raises."""

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        raise RuntimeError("no [red]idea[/red]\x1b[2J")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build_app(), ["connect", *arguments])


def test_kafkas_own_assignors_keep_the_rules() -> None:
    ran = run("fuzz", "--episodes", "30", "--seed", "1000", "--processes", "1")
    assert ran.exit_code == 0
    assert ran.stdout == "30 random episodes (seeds 1000 to 1029), 0 of them break a rule\n"


def test_a_broken_rule_has_its_seed_and_a_command_that_plays_it_again() -> None:
    ran = run("fuzz", "--episodes", "5", "--seed", "3", "--processes", "1", "--assignor", FORGETFUL, "--json")
    assert ran.exit_code == 1
    broken = json.loads(ran.stdout)["broken"]
    assert broken
    for each in broken:
        assert any("has no owner" in rule for rule in each["rules"])
        words = shlex.split(each["replay"])
        assert words[1:] == [
            "connect",
            "simulate",
            f"random-{each['seed']}",
            "--seed",
            str(each["seed"]),
            "--assignor",
            FORGETFUL,
        ]
    again = run(*shlex.split(broken[0]["replay"])[2:], "--json")
    assert again.exit_code == 0
    assert json.loads(again.stdout)


def test_what_ends_an_episode_is_a_broken_rule_and_no_end_of_the_run() -> None:
    failing = "tests.simulation.test_connect_fuzz:Failing"
    ran = run("fuzz", "--episodes", "3", "--seed", "3", "--processes", "1", "--assignor", failing)
    assert ran.exit_code == 1
    assert "the episode ended with RuntimeError: no [red]idea[/red]\\x1b[2J" in ran.stdout


def test_the_number_of_processes_changes_nothing() -> None:
    parts = list(fuzz(52, 3, FORGETFUL, 1, may_run_code=True))
    assert [part.episodes for part in parts] == [50, 2]
    broken = [each.seed for part in parts for each in part.broken]
    assert broken[0] == 3
    assert broken == sorted(broken)
    assert list(fuzz(52, 3, FORGETFUL, 2, may_run_code=True)) == parts
