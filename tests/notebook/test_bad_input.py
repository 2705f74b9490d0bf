"""Bad input of an opened group: each value of a wrong type, or outside its limits, is a typed error with its option."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import assignor_lab as lab
from assignment_api import AssignorLabError
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.notebook import Group
from tests.notebook.test_group import CAPTURES

P1 = CAPTURES / "plans" / "P1"


@pytest.fixture(scope="module")
def group() -> Group:
    return lab.open(P1 / "capture.jsonl", P1 / "application.properties")


def _refused(call: Callable[..., object], **given: Any) -> str:
    with pytest.raises(AssignorLabError) as refused:
        call(**given)
    return str(refused.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("plays", 0), ("plays", 2.5), ("plays", True), ("plays", "3"), ("seed", "x"), ("seed", -1), ("processes", -1),
        ("down_seconds", "abc"), ("down_seconds", -5), ("down_seconds", math.inf), ("down_seconds", 10**400),
        ("poll_seconds", -1), ("poll_seconds", math.inf), ("poll_seconds", math.nan), ("revoke_seconds", math.inf),
        ("stuck", -1), ("surge", -1), ("crash_in", -1), ("leave", "no"), ("replace", None), ("order", 5),
        ("order", [5]), ("upgrade_from", 3.4), ("start_seconds", math.inf), ("wait", math.inf), ("batch", 1.5),
    ],
)  # fmt: skip
def test_a_value_that_an_option_of_a_roll_cannot_have_names_the_option(group: Group, option: str, value: Any) -> None:
    assert f"--{option.replace('_', '-')}" in _refused(group.plan, **{"plays": 1, "variants": None, option: value})


@pytest.mark.parametrize(
    ("plan", "subject", "option", "value", "named"),
    [
        ("scale", None, "new_threads", 0, "--new-threads"),
        ("scale", None, "new_tags", "a=b", "--new-tag"),
        ("scale", None, "to", 2.5, "--to"),
        ("kill", "d1", "back_after_seconds", -5, "--back-after"),
        ("kill", "d1", "back_after_seconds", math.inf, "--back-after"),
        ("kill", 5, "back_after_seconds", 1, "subject"),
        ("broker-roll", None, "brokers", 0, "--brokers"),
        (["roll"], None, "down_seconds", 1, "plan"),
        ("roll", None, "variants", "a=sticky", "variants"),
    ],
)
def test_other_plans_name_the_option_too(
    group: Group, plan: Any, subject: Any, option: str, value: Any, named: str
) -> None:
    assert named in _refused(group.plan, plan=plan, subject=subject, **{"plays": 1, option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("configurations", 1), ("configurations", 2.5), ("days", 0), ("days", math.inf), ("hours", math.inf),
        ("hours", "x"), ("seed", "x"), ("processes", None), ("objective", 5), ("at_most", 5), ("fix", "abc"),
        ("fix", {"session.timeout.ms": "abc"}), ("fix", {"CloseOptions": "banana"}), ("within", {"a": 5}),
        ("within", {"session.timeout.ms": [None]}), ("mix", 5), ("mix", {5: 1}), ("release", 4.3),
        ("down_seconds", math.inf), ("batch", 0),
    ],
)  # fmt: skip
def test_a_value_that_an_advice_cannot_have_is_refused(group: Group, option: str, value: Any) -> None:
    assert _refused(group.advise, **{"configurations": 2, "days": 2, option: value})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("source", 5), ("source", ""), ("config", 5), ("config", {5: 5}), ("state", 5), ("racks", [5]),
        ("topology", 5), ("workload", 5), ("timings", 5), ("timezone", "Nowhere/City"), ("assignor", 5),
    ],
)  # fmt: skip
def test_a_value_that_an_opened_group_cannot_have_names_the_option(option: str, value: Any) -> None:
    assert option in _refused(lab.open, **{"source": P1 / "capture.jsonl", option: value})


def test_an_explanation_and_a_comparison_refuse_values_of_another_type(group: Group) -> None:
    assert "calls" in _refused(group.explain, calls=-1)
    assert "the group has 1 state" in _refused(group.explain, state=99)
    assert "one" in _refused(group.compare, one=5)


def test_waits_that_outlast_a_play_are_refused(group: Group) -> None:
    message = "the waits of 3 steps last 30,000 s together, and a play ends after 28,800 s: give a shorter --wait"
    assert _refused(group.plan, wait=10_000, plays=1, variants=None) == message


def test_whole_numbers_of_other_types_are_taken(group: Group) -> None:
    numpy = pytest.importorskip("numpy")
    view = group.plan(plays=numpy.int64(1), variants=None, down_seconds=numpy.float64(1.0))
    assert len(view.answer.prediction.plays) == 1


def _with_observed(file: Path, task: str) -> Path:
    state = json.loads((P1 / "capture.jsonl").read_text())
    first = next(iter(state["observed"]["assignment"].values()))
    first["active"].append(task)
    file.write_text(json.dumps(state))
    return file


def test_a_recorded_task_that_the_state_lacks_is_refused_with_its_place(tmp_path: Path) -> None:
    group = lab.open(_with_observed(tmp_path / "unknown.jsonl", "7_7"))
    with pytest.raises(DocumentFormatError, match=r"unknown\.jsonl, line 1, observed\.assignment.*active: task 7_7 is"):
        group.plan(plays=1, variants=None)


def test_a_second_owner_of_a_recorded_task_is_refused_with_both_places(tmp_path: Path) -> None:
    group = lab.open(_with_observed(tmp_path / "twice.jsonl", "0_0"))
    with pytest.raises(DocumentFormatError, match=r"task 0_0 is active in observed\.assignment.*, too"):
        group.plan(plays=1, variants=None)


def test_the_same_holds_in_the_streams_protocol(tmp_path: Path) -> None:
    state = json.loads((CAPTURES / "plans" / "P5" / "capture.jsonl").read_text())
    held = {each["id"]: {key: each[key] for key in ("active", "standby", "warmup")} for each in state["members"]}
    state.setdefault("observed", {"members": held})
    owner = next(each for each in state["observed"]["members"].values() if each["active"])
    subtopology = next(iter(owner["active"]))
    owner["active"][subtopology].append(77)
    (tmp_path / "unknown.jsonl").write_text(json.dumps(state))
    with pytest.raises(DocumentFormatError, match=rf"observed\.members.*active: task {subtopology}_77 is no task"):
        lab.open(tmp_path / "unknown.jsonl").plan(plays=1, variants=None)
