"""Contents and drawings of a notebook, on decisions of a real group and on a simulated episode."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import ConfigKeyError, PluginError
from assignor_lab.notebook import (
    ChartError,
    Comparison,
    NotebookAnswer,
    States,
    ask,
    compare,
    plot_answer,
    plot_difference,
    plot_headline,
    plot_pareto,
    plot_timeline,
    read,
)
from assignor_lab.scenarios import DocumentFormatError, Place, Scenario, scenario_from_document
from assignor_lab.scoring import Generated
from assignor_lab.scoring.spark.session import MissingExtraError
from tests.scenarios.documents import streams_document
from tests.scoring.in_process import scored

TAGGED = Path(__file__).parents[1] / "data" / "captures" / "tagged"
HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[2J"


@pytest.fixture(scope="module")
def past() -> States:
    return read(sorted(TAGGED.glob("*.log.gz")), config=TAGGED / "application.properties")


@pytest.fixture(scope="module")
def episode() -> NotebookAnswer:
    return ask(read("close-without-leaving")[0], "high_availability")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "out"
    scored([Generated("streams_histories", 4, 7)], ("high_availability", "sticky"), folder)
    return folder


@pytest.fixture(scope="module")
def hostile() -> Scenario:
    """A state with clients, hosts and tags that have markup as names."""
    named = streams_document()
    for client in named["clients"]:
        client["tags"] = {"zone": HOSTILE}
        client["host"] = f"{HOSTILE}{client['process_id'][-1]}:1"
        client["rack"] = HOSTILE
    named["id"] = HOSTILE
    return scenario_from_document(named, Place("hostile"))


@pytest.mark.slow
def test_states_are_found_by_number_id_and_slice(past: States) -> None:
    assert len(past) == 24
    assert past[past[9].id] is past[9]
    assert [state.id for state in past[2:4]] == [past[2].id, past[3].id]
    assert repr(past) == "<24 states>"
    with pytest.raises(KeyError, match="no state is called nobody"):
        past["nobody"]


def test_an_undeclared_setting_is_refused(past: States) -> None:
    with pytest.raises(ConfigKeyError, match="has no key 'mvoes'"):
        compare(past, "sticky", "load_aware", {"assignor.load_aware.mvoes": "1"})


def test_states_show_when_they_were_and_how_large(past: States) -> None:
    page = past._repr_html_()
    assert page.count("<tr>") == 25
    assert "24 states" in page
    assert "<td" in page
    assert "2026-" in page


def test_a_source_that_cannot_be_read_is_named() -> None:
    with pytest.raises(DocumentFormatError, match=r"nowhere\.jsonl"):
        read("nowhere.jsonl")
    with pytest.raises(Exception, match="no source is named"):
        read([])


def test_an_answer_shows_what_happens_on_each_client_and_what_it_costs(past: States) -> None:
    answered = ask(past[9], "kafka")
    page = answered._repr_html_()
    assert page.count("<table") == 2
    assert "Records to restore, standbys included" in page
    assert answered.who is not None
    assert answered.result is not None
    assert all(label in page for label in answered.who.labels.values())


@pytest.mark.slow
def test_clients_stand_in_the_order_of_their_names_wherever_they_stand(past: States) -> None:
    answered = ask(past[9], "kafka")
    page = answered._repr_html_()
    assert page.index(">i1<") < page.index(">i3<") < page.index(">i4<")
    assert plot_answer(answered).to_dict()["layer"][0]["encoding"]["y"]["sort"] == ["i1", "i3", "i4"]
    colours = plot_timeline(past).to_dict()["layer"][0]["encoding"]["color"]
    assert colours["scale"]["domain"] == ["i1", "i2", "i3", "i4"]


def test_the_change_of_a_task_is_what_happened_to_it(past: States) -> None:
    answered = ask(past[9], "sticky")
    who = answered.who
    assert who is not None
    changes = {
        (task, client): change for task in who.tasks for client in who.labels if (change := who.change(task, client))
    }
    runs = [task for (task, _), change in changes.items() if change in ("runs here as before", "starts here")]
    takes = [task for (task, _), change in changes.items() if change == "a copy takes over"]
    assert sorted(runs + takes) == sorted(who.tasks)
    moved = [task for (task, _), change in changes.items() if change == "starts here"]
    assert moved == [
        task for task in who.tasks if who.before.owner(task) != who.after.owner(task) and task not in takes
    ]


def test_settings_stand_in_the_place_of_the_states_own(past: States) -> None:
    none = ask(past[9], "high_availability", {"num.standby.replicas": 0})
    two = ask(past[9], "two=high_availability,num.standby.replicas=2")
    assert (none.name, two.name) == ("high_availability", "two")
    assert none.who is not None
    assert two.who is not None
    copies = [sum(len(who.after.copies(task)) for task in who.tasks) for who in (none.who, two.who)]
    assert copies[0] < copies[1]


@pytest.mark.slow
def test_what_an_assignor_raises_is_a_failure_and_no_exception(past: States) -> None:
    answered = ask(past[9], "tests.scoring.assignors:Raises")
    assert answered.failure is not None
    assert "no answer: RuntimeError" in answered._repr_html_()
    with pytest.raises(ChartError, match="has no answer to be drawn"):
        plot_answer(answered)
    with pytest.raises(PluginError, match="did you mean"):
        ask(past[9], "stick")
    with pytest.raises(IndexError, match="rounds 0 to 0"):
        ask(past[9], "sticky", round=1)


def test_a_comparison_has_the_words_of_the_command(past: States) -> None:
    one = compare(past[9], "kafka", "sticky")
    assert isinstance(one, Comparison)
    page = one._repr_html_()
    assert "kafka" in page
    assert "Tasks with different owners" in page
    assert one.document()["contenders"][1]["name"] == "sticky"
    several = compare(past[:3], "kafka", "high_availability")._repr_html_()
    assert "Decision by decision" in several
    assert "3 decisions; kafka and high_availability decide 3 of them alike" in several


@pytest.mark.slow
def test_all_kinds_of_groups_are_asked(tmp_path: Path) -> None:
    from assignor_lab.scoring.spark.data_source.source import AssignorSource

    for family, assignor in (("group_histories", "group_sticky"), ("connect_histories", "connect_incremental")):
        source = AssignorSource({"family": family, "count": "1"})
        reader = source.reader(source.schema())
        batches: list[Any] = [batch for part in reader.partitions() for batch in reader.read(part)]
        document = json.loads(batches[0].to_pylist()[0]["document"])
        state = scenario_from_document(document, Place(family))
        assert "<table" in state._repr_html_()
        answered = ask(state, assignor)
        assert answered.who is not None
        assert plot_answer(answered).to_dict()["layer"]


@pytest.mark.slow
def test_a_run_is_drawn_by_its_figures(out: Path) -> None:
    drawn = plot_headline(out).to_dict()
    titles = [each["title"]["text"] for each in drawn["vconcat"]]
    document = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    figures = document["results"]["headline"]["figures"]
    assert titles == [each["title"] for each in figures if each["of"]]
    values = _values(drawn)
    assert values == {(value["assignor"], value["mean"]) for each in figures for value in each["of"]}
    assert plot_headline(document).to_dict()["vconcat"] == drawn["vconcat"]


@pytest.mark.slow
def test_a_run_of_an_older_version_is_refused_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text('{"format": 1, "results": {}, "run_metrics": {}}', encoding="utf-8")
    with pytest.raises(DocumentFormatError, match=r"summary\.json, .*reads format 2, found 1 .*; score again, or use"):
        plot_headline(tmp_path)


def _values(drawn: dict[str, Any]) -> set[tuple[str, float]]:
    found = set()
    for each in drawn["vconcat"]:
        for holder in (each, *each["layer"]):
            found |= {(row["assignor"], row["mean"]) for row in holder.get("data", {}).get("values", ())}
    return found


@pytest.mark.slow
def test_two_figures_are_drawn_against_each_other(out: Path) -> None:
    text = json.dumps(plot_pareto(out).to_dict())
    assert "behind no other" in text
    assert '"sticky"' in text


def test_an_episode_is_drawn_with_the_time_in_which_nobody_had_a_task(episode: NotebookAnswer) -> None:
    rows = rows_of(plot_timeline(episode))
    away = [row for row in rows if row.get("who") == "no owner"]
    told = next(each for each in episode.figures if each.figure == "unavailable")
    assert told.means is not None
    waits = [row for row in rows if row.get("who") in ("no owner", "its state comes back")]
    assert away
    assert sum(row["to"] - row["from"] for row in waits) == pytest.approx(told.means[0], abs=0.5)
    with pytest.raises(ChartError, match="played: see plot_timeline"):
        plot_answer(episode)


def test_a_past_is_drawn_from_decision_to_decision(past: States) -> None:
    rows = rows_of(plot_timeline(past))
    tasks = {row["task"] for row in rows if "task" in row}
    assert len(tasks) == 14
    for task in tasks:
        stretches = [row for row in rows if row.get("task") == task]
        assert all(one["to"] == other["from"] for one, other in pairwise(stretches))
    with pytest.raises(ChartError, match="fewer than two"):
        plot_timeline(past[:1])


def test_a_difference_is_drawn_task_by_task(past: States) -> None:
    comparison = compare(past[9], "kafka", "sticky")
    rows = rows_of(plot_difference(comparison))
    assert {row["task"] for row in rows} == {each.task for each in comparison.compared.states[0].elsewhere}
    with pytest.raises(ChartError, match="no state 1"):
        plot_difference(comparison, 1)
    with pytest.raises(ChartError, match="both answers are the same"):
        plot_difference(compare(past[9], "kafka", "high_availability"))


def rows_of(chart: Any) -> list[dict[str, Any]]:
    """The data of a chart, each row once."""
    document = chart.to_dict()
    found: list[dict[str, Any]] = []
    for holder in (document, *document.get("layer", ())):
        for row in holder.get("data", {}).get("values", ()):
            if row not in found:
                found.append(row)
    return found


def test_hostile_names_stay_text_in_the_page_of_a_chart(hostile: Scenario, past: States) -> None:
    named = "x</script><img>=sticky,num.standby.replicas=1"
    for chart in (plot_answer(ask(hostile, "sticky")), plot_difference(compare(past[9], "kafka", named))):
        page = chart.to_html()
        assert "</script><img" not in page
        assert r"\u2039/script>\u2039img" in page
        assert "\u202e" not in page
        assert "\x1b" not in page


def test_hostile_names_stay_text_in_tables(hostile: Scenario) -> None:
    answered = ask(hostile, "sticky")
    for page in (hostile._repr_html_(), answered._repr_html_(), States((hostile,))._repr_html_()):
        assert "<img" not in page
        assert "</script>" not in page
        assert "\u202e" not in page


@pytest.mark.slow
def test_hostile_names_in_a_summary_stay_text(out: Path) -> None:
    text = (out / "summary.json").read_text(encoding="utf-8").replace('"sticky"', json.dumps(HOSTILE))
    for draw in (plot_headline, plot_pareto):
        page = draw(json.loads(text)).to_html()
        assert "</script><img" not in page
        assert r"\u2039/script>\u2039img" in page


@pytest.mark.slow
def test_without_altair_the_extra_is_named(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=r"assignor-lab\[notebook\]"):
        plot_headline(out)


@pytest.mark.slow
def test_states_are_asked_about_without_the_extras_of_charts_and_reports() -> None:
    logs = [str(log) for log in sorted(TAGGED.glob("*.log.gz"))]
    code = f"""
import sys
sys.modules.update(dict.fromkeys(("altair", "jinja2", "markupsafe"), None))
from assignor_lab.notebook import ask, compare, plot_pareto, read
state = read({logs!r}, {str(TAGGED / "application.properties")!r})[2]
assert "<table" in ask(state, "sticky")._repr_html_() + compare(state, "kafka", "sticky")._repr_html_()
try:
    plot_pareto({{}})
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "charts are drawn with altair: pip install 'assignor-lab[notebook]'\n", done.stderr


def test_what_is_no_summary_is_said(tmp_path: Path) -> None:
    with pytest.raises(DocumentFormatError):
        plot_headline({"results": {}})
    with pytest.raises(DocumentFormatError):
        plot_headline(tmp_path)


@pytest.mark.slow
def test_five_thousand_tasks_make_a_small_cell_and_a_bounded_chart() -> None:
    document = streams_document()
    (task, *_), (client, *_) = document["tasks"], document["clients"]
    names = [f"0_{number}" for number in range(5_000)]
    document["tasks"] = [{**task, "id": name} for name in names]
    document["clients"] = [
        {**client, "previous_active": names, "lags": dict.fromkeys(names, 0), "previous_by_consumer": {}}
    ]
    state = scenario_from_document(document, Place("large"))
    answered = ask(state, "fallback_prior")
    assert len(state._repr_html_()) < 40_000
    assert len(answered._repr_html_()) < 40_000
    drawn = plot_answer(answered)
    assert len(rows_of(drawn)) <= 240
    assert "4 880 tasks left out" in json.dumps(drawn.to_dict(), ensure_ascii=False).replace("\u202f", " ")
