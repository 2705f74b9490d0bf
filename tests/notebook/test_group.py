"""A group that is opened in Python answers as the commands do."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import assignor_lab as lab
from assignment_api import AssignorLabError
from assignment_api.plugins import ConfigKeyError
from assignor_lab.cli.main import main
from assignor_lab.notebook import group_views
from assignor_lab.notebook.advice_view import AdviceView
from assignor_lab.notebook.group import Group
from tests.capture.flight_recording import write_recording
from tests.planning.consumer_groups import classic_group, consumer_group, written

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
PLAN = CAPTURES / "plans" / "P1" / "capture.jsonl"


def command(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    with pytest.raises(SystemExit) as ended:
        main([*words, "--json"])
    assert ended.value.code in (0, 1)
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    write_recording(tmp_path / "past", "classic")
    return tmp_path / "past"


def test_a_plan_is_that_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    plan = lab.open(PLAN).plan("roll", plays=3, variants=None, batch=2, start_seconds="6..16")
    words = ["--plays", "3", "--no-variants", "--batch", "2", "--start-seconds", "6..16"]
    said = command(capsys, "plan", str(PLAN), "roll", *words)
    said.pop("verified")
    ours = json.loads(json.dumps(plan.document()))
    ours.pop("verified", None)
    assert ours == said
    assert str(plan).count("rolling restart") == 1
    assert "<table" in plan._repr_html_()


@pytest.mark.parametrize(("make", "plan"), [(classic_group, "roll"), (consumer_group, "kill")])
def test_a_consumer_group_opens(make: Any, plan: str, tmp_path: Path) -> None:
    document = make()
    group = lab.open(written(tmp_path / "state.jsonl", document))
    assert repr(group) == "<group orders: <1 state>>"
    subject = document["members"][0]["client_id"] if plan == "kill" else None
    assert "takes" in str(group.plan(plan, subject, plays=1, variants=None))


def test_a_connect_cluster_opens() -> None:
    states = CAPTURES / "connect-plans" / "delay-0" / "states.jsonl.gz"
    with pytest.raises(AssignorLabError, match="holds states of 3 groups: choose one state"):
        lab.open(states)
    group = lab.open(states, state="roll, leader first")
    assert len(group.states) == 1
    assert "connector" in str(group.plan("roll", plays=1, variants=None))


def test_history_and_check_are_those_of_the_commands(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = lab.open(recorded)
    (history,) = command(capsys, "history", str(recorded))["histories"]
    assert json.loads(json.dumps(group.history.document())).items() <= history.items()
    assert group.history.history.group == "classic"
    (checked,) = command(capsys, "check", str(recorded))["groups"]
    found = group.check()
    assert found.is_ordinary == checked["is_ordinary"]
    assert found.checked.checked == checked["rebalances"]
    assert len(found.checked.findings) == len(checked["findings"])


def test_a_comparison_and_an_explanation_are_those_of_the_commands(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = lab.open(recorded)
    said = command(capsys, "compare", str(recorded), "--assignor", "sticky", "--assignor", "high_availability")
    ours = json.loads(json.dumps(group.compare("sticky", "high_availability").document()))
    assert ours.items() <= said.items()
    last = group.states[-1]
    task = "0_0"
    said = command(capsys, "explain", str(recorded), "--id", last.id, "--task", task, "--calls", "5")
    ours = json.loads(json.dumps(group.explain(task, calls=5).document()))
    assert {key: ours[key] for key in ours if key != "seconds"}.items() <= said.items()


def test_an_advice_is_that_of_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mix = tmp_path / "mix.toml"
    mix.write_text("rolls_per_week = 7\n")
    words = ["--objective", "task_seconds", "--objective", "rebalances", "--at-most", "rebalances=1e6"]
    words += ["--fix", "CloseOptions", "--configurations", "3", "--days", "2", "--start-seconds", "4"]
    said = command(capsys, "advise", str(PLAN), *words, "--mix", str(mix))
    advice = lab.open(PLAN).advise(
        ["task_seconds", "rebalances"], {"rebalances": 1e6}, fix=["CloseOptions"], configurations=3, days=2,
        start_seconds=4, mix=mix,
    )  # fmt: skip
    assert json.loads(json.dumps(advice.document())) == {**said, "verified": None}
    assert said["sentence"] in str(advice)
    assert advice._repr_html_().count("<table") == 3


def test_a_configuration_changes_the_answer(recorded: Path) -> None:
    group = lab.open(recorded, {"num.standby.replicas": 1})
    assert group.explain(calls=0).document()
    assert str(lab.open(recorded).compare("sticky", "kafka", {"num.standby.replicas": 2}))


def test_a_misspelt_setting_of_a_plugin_is_refused(recorded: Path) -> None:
    misspelt = {"assignor.optimal.secnds": 1}
    with pytest.raises(ConfigKeyError, match="did you mean 'seconds'"):
        lab.open(recorded, misspelt)
    with pytest.raises(ConfigKeyError, match="did you mean 'seconds'"):
        lab.open(recorded).compare("sticky", "kafka", misspelt)


def test_values_keep_their_types(recorded: Path) -> None:
    key = "rack.aware.assignment.tags"
    group = lab.open(recorded, {key: ["zone", "cluster"]})
    assert list(group._sources.effective()[key].value) == ["zone", "cluster"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda group: group.plan("rol"), "there is no plan 'rol'"),
        (lambda group: group.plan("kill"), "needs the instance"),
        (lambda group: group.plan("roll", batsh=2), "no option 'batsh'"),
        (lambda group: group.plan("roll", batch="two"), "--batch 'two'"),
        (lambda group: group.plan("roll", wait="now"), "--wait 'now'"),
        (lambda group: group.plan("scale", to="many"), "--to 'many'"),
        (lambda group: group.advise("lag"), "'lag' is none of task_seconds"),
        (lambda group: group.advise(at_most={"lag": 1}), "lag=1"),
        (lambda group: group.advise(fix={"no.such.key": "1"}), "no.such.key"),
        (lambda group: group.advise(batch="two"), "--batch 'two'"),
        (lambda group: group.advise(mix={"rols_per_week": 7}), "mix, rols_per_week"),
        (lambda group: group.advise(), "no advice: No verdict"),
        (lambda group: group.compare("none_such"), "none_such"),
        (lambda group: group.explain("9_9"), "9_9"),
    ],
)
def test_bad_input_names_itself(call: Any, words: str, recorded: Path) -> None:
    with pytest.raises(AssignorLabError, match=words):
        call(lab.open(recorded))


@pytest.mark.parametrize(("content", "words"), [("", "holds no state"), ("{}\n", "line 1|:1")])
def test_a_source_without_a_group_is_refused(content: str, words: str, tmp_path: Path) -> None:
    source = tmp_path / "states.jsonl"
    source.write_text(content)
    with pytest.raises(AssignorLabError, match=words):
        lab.open(source)


def test_states_of_two_groups_are_refused(tmp_path: Path, recorded: Path) -> None:
    other = tmp_path / "other"
    write_recording(other, "streams")
    both = tmp_path / "both"
    both.mkdir()
    (both / "a").symlink_to(recorded)
    (both / "b").symlink_to(other)
    with pytest.raises(AssignorLabError):
        lab.open(both)


def test_the_import_is_light() -> None:
    code = (
        "import sys, assignor_lab as lab; heavy = {'typer', 'pyspark', 'attrs'} & set(sys.modules); "
        "lab.open; heavy |= {'typer', 'pyspark', 'pyarrow', 'altair'} & set(sys.modules); print(sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    with pytest.raises(AttributeError, match="nothing"):
        lab.nothing  # noqa: B018


#: The public surface of the lab in Python: a change needs a line in CHANGELOG.md.
SURFACE = """
Group.advise(objective, at_most, *, fix, within, mix, release, configurations, days, hours, seed, processes, \
batch, down_seconds, start_seconds, leave)
Group.check(limits)
Group.compare(one, other, config)
Group.explain(task, why_not, *, state, assignor, calls, seconds)
Group.history
Group.name
Group.plan(plan, subject, *, variants, plays, seed, processes, **options)
Group.source
Group.states
Group.verification
open(source, config, *, state, racks, topology, workload, timings, timezone, assignor)
AdviceView.advice AdviceView.case AdviceView.changes AdviceView.document() AdviceView.name AdviceView.source \
AdviceView.verified
CheckView.checked CheckView.is_ordinary
ExplanationView.document() ExplanationView.explained
HistoryView.document() HistoryView.history HistoryView.timeline
PlanView.answer PlanView.document() PlanView.verified
"""


def test_the_public_surface_is_the_recorded_one() -> None:
    lines = [_signed(Group, name) for name in _names(Group)]
    lines.append(f"open{_parameters(lab.open)}")
    views = [AdviceView, *(getattr(group_views, view) for view in group_views.__all__)]
    lines += [" ".join(_signed(made, name) for name in _names(made)) for made in views]
    assert "\n".join(lines) == SURFACE.strip()
    assert lab.__all__ == ["Group", "open"]


def _names(made: type) -> list[str]:
    return sorted(name for name in dir(made) if not name.startswith("_"))


def _signed(made: type, name: str) -> str:
    found = getattr(made, name)
    return f"{made.__name__}.{name}{_parameters(found) if inspect.isfunction(found) else ''}"


def _parameters(function: Any) -> str:
    parameters = [
        parameter.replace(annotation=parameter.empty, default=parameter.empty)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name != "self"
    ]
    return str(inspect.Signature(parameters))
