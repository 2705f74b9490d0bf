"""``plan`` of a source with a past: its changes are predicted first, and its intervals follow from them."""

from __future__ import annotations

import gzip
import json
import shutil
import time
from pathlib import Path
from typing import Any, cast

import attrs
import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.capture.histories.episodes import past_scenarios
from assignor_lab.capture.histories.past import PastSurroundings
from assignor_lab.cli.app import build_app
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.planning.past.changes import PastChange
from assignor_lab.planning.past.keeping import LedgerKeeper, keep_ledger
from assignor_lab.planning.past.ledger import LEDGER, add_to_ledger, read_ledger
from assignor_lab.planning.past.predicting import refused_past, without_contradicted
from assignor_lab.planning.past_record import (
    PastRecord,
    PredictedAway,
    PredictedChange,
    RecordedAway,
    RecordedBounds,
    record_sentences,
)
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.predicted import Range
from assignor_lab.verification.causes import Cause
from assignor_lab.verification.readings import terms_of
from assignor_lab.verification.verified import Verification, VerifiedGroup, verify

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
OF_PLAYS, USUAL = Range(10.0, 9.5, 11.0), Range(10.0, 5.0, 20.0)


def change(ratio: float, kind: str = "roll", at_ms: int = 1, half: float = 1.0) -> PredictedChange:
    predicted, measured = Range(10.0, 10.0 - half, 10.0 + half), RecordedBounds(10.0 * ratio, 10.0 * ratio)
    return PredictedChange(at_ms, kind, ("i1",), PredictedAway(predicted, predicted), RecordedAway(measured, measured))


def adjusted(*ratios: float, kind: str = "roll") -> Range:
    record = PastRecord(tuple(change(each) for each in ratios))
    return record.adjusted("worst_task_seconds", kind, OF_PLAYS, USUAL)


def test_without_a_past_the_usual_interval_stays() -> None:
    assert adjusted() == USUAL


def test_nine_good_predictions_narrow_an_interval_to_that_of_the_plays() -> None:
    assert adjusted(*[1.0] * 9) == OF_PLAYS


def test_three_good_predictions_narrow_it_by_a_third() -> None:
    found = adjusted(1.0, 1.0, 1.0)
    assert (round(found.low, 3), round(found.high, 3)) == (6.5, 17.0)


def test_one_bad_prediction_widens_it_at_once() -> None:
    assert adjusted(2.5).high == 25.0
    assert adjusted(0.3).low == 3.0


def test_three_changes_of_the_same_kind_leave_the_others_out() -> None:
    record = PastRecord((*(change(1.0) for _ in range(3)), *(change(9.0, "scale") for _ in range(5))))
    assert record.adjusted("worst_task_seconds", "roll", OF_PLAYS, USUAL).high < USUAL.high
    assert record.adjusted("worst_task_seconds", "kill", OF_PLAYS, USUAL).high == 90.0


def test_a_change_of_another_form_does_not_count() -> None:
    lost, moved = "lost member, classic protocol", "moves, classic protocol"
    record = PastRecord((attrs.evolve(change(9.0, "scale"), form=moved), attrs.evolve(change(1.0, "scale"), form=lost)))
    found = record.adjusted("worst_task_seconds", "scale", OF_PLAYS, USUAL, lost)
    assert found.high < USUAL.high
    assert record.adjusted("worst_task_seconds", "scale", OF_PLAYS, USUAL, moved).high == 90.0
    assert record.adjusted("worst_task_seconds", "scale", OF_PLAYS, USUAL, "restoring") == USUAL
    # Older ledgers have no form.
    assert PastRecord((change(9.0),)).adjusted("worst_task_seconds", "roll", OF_PLAYS, USUAL, lost).high == 90.0


def test_a_ledger_without_forms_is_read(tmp_path: Path) -> None:
    add_to_ledger(tmp_path, [change(1.0)])
    file = tmp_path / LEDGER
    file.write_text(file.read_text().replace('"form":"",', "").replace('"form": "", ', ""))
    assert '"form"' not in file.read_text()
    assert read_ledger(tmp_path) == {1: change(1.0)}


def test_the_record_is_one_line() -> None:
    record = PastRecord((*(change(1.05) for _ in range(7)), change(2.0)))
    assert record_sentences(record) == ["The last 8 changes of this group: 7 inside their intervals, median error 5%."]


def test_a_record_with_large_errors_is_a_doubt() -> None:
    assert PastRecord((change(3.0),)).doubts
    assert not PastRecord((change(1.2),)).doubts


def test_a_ledger_comes_back(tmp_path: Path) -> None:
    changes = [change(1.5, at_ms=2), change(1.0, at_ms=1)]
    add_to_ledger(tmp_path, changes)
    assert read_ledger(tmp_path) == {each.at_ms: each for each in changes}
    assert read_ledger(tmp_path / "none") == {}


def test_a_wrong_line_of_a_ledger_has_its_place_and_a_remedy(tmp_path: Path) -> None:
    add_to_ledger(tmp_path, [change(1.0)])
    with (tmp_path / LEDGER).open("a") as file:
        file.write('{"format": 1, "kind": "predicted-change", "at_ms": "soon"}\n')
    with pytest.raises(DocumentFormatError, match="line 2"):
        read_ledger(tmp_path)


def planned(source: Path, *words: str) -> dict[str, Any]:
    done = CliRunner().invoke(
        build_app(), ["plan", str(source), "roll", "--plays", "4", "--no-variants", "--json", *words]
    )
    assert done.exit_code == 0, done.output
    made: dict[str, Any] = json.loads(done.stdout)
    return made


def logs_of(name: str, folder: Path) -> Path:
    for file in (CAPTURES / name).glob("*[0-9].log.gz"):
        shutil.copy(file, folder)
    return folder


def recording_of(name: str, folder: Path) -> Path:
    packed = CAPTURES / "events" / name / "records.jsonl.gz"
    (folder / "records.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))
    return folder


@pytest.mark.slow
def test_a_past_is_predicted_before_the_plan(tmp_path: Path) -> None:
    made = planned(logs_of("plain-ha", tmp_path), "--config", str(CAPTURES / "plain-ha" / "application.properties"))
    past = made["past_changes"]
    # h3 stops while a task of its start still waits for its directory: one change.
    assert past["sentences"][0].startswith("The last change of this group: 1 inside its interval, median error")
    assert [(each["change"], each["instances"]) for each in past["rows"]] == [("scale", ["h3"])]


@pytest.mark.slow
def test_a_past_that_contradicts_the_assignor_gives_a_sentence_and_a_doubt(tmp_path: Path) -> None:
    made = planned(logs_of("orders-2", tmp_path), "--only=i3")
    assert made["past_changes"]["changes"] == 0
    assert "contradict the assignor" in made["past_changes"]["refused"]
    assert any("contradict the assignor" in each for each in made["total"]["poorly_known"])


def test_a_decision_that_only_an_unknown_lag_explains_leaves_out_its_change_alone() -> None:
    sources = config_sources(None, environ={})
    around = PastSurroundings(sources.above, on_problem=lambda _: None)
    decisions = past_scenarios([str(CAPTURES / "events" / "outage" / "records.jsonl.gz")], around)
    verification = verify(decisions, terms_of(discover(), sources, around=around))
    (group,) = verification.refused
    assert (group.reproduced, group.checked) == (6, 7)
    times = [each.source["time_ms"] for each in decisions if each.source]
    assert group.contradicted_ms == (times[2],)
    assert refused_past(verification) is None
    away = RecordedAway(RecordedBounds(1.0, 1.0), RecordedBounds(1.0, 1.0))
    plan = Plan("roll", ())
    changes = [
        PastChange(times[place] + 1, "roll", (), decisions[place], plan, away, 100, shows_restoring=False, is_over=True)
        for place in (0, 2, 4)
    ]
    kept, reasons = without_contradicted(changes, verification)
    assert [each.at_ms for each in kept] == [times[0] + 1, times[4] + 1]
    assert reasons == ["only with current copies the assignor makes one of its decisions: its lags are unknown"]


def test_other_contradictions_refuse_a_past() -> None:
    group = VerifiedGroup("g", "sticky", checked=8, recorded=8, reproduced=5, cause=Cause("racks", "unknown racks"))
    refused = refused_past(Verification((group,)))
    assert refused is not None
    assert refused.refused.startswith("3 of 8 decisions contradict")


def test_a_ledger_replaces_the_predictions_of_its_changes(tmp_path: Path) -> None:
    source = recording_of("streamed", tmp_path)
    (first,) = planned(source)["past_changes"]["rows"]
    assert first["instances"] == ["f2"]
    add_to_ledger(source, [change(1.0, "scale", first["at_ms"])])
    (again,) = planned(source)["past_changes"]["rows"]
    assert again["predicted"]["task_seconds"]["median"] == 10.0


def test_a_recording_keeps_a_ledger_of_its_changes_that_are_over(tmp_path: Path) -> None:
    source = recording_of("streamed", tmp_path)
    keeper = LedgerKeeper(lambda folder: keep_ledger(folder, discover(), config_sources(environ={})), pytest.fail)
    keeper.begin()
    keeper.changed(source)
    keeper.close()
    (kept,) = read_ledger(source).values()
    assert (kept.change, kept.instances) == ("scale", ("f2",))
    assert keep_ledger(source, discover(), config_sources(environ={})) == 0


def test_a_ledger_that_cannot_be_kept_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []

    def fails(folder: Path) -> int:
        raise DocumentFormatError(str(folder), 1, "", "is broken")

    keeper = LedgerKeeper(fails, told.append, quiet_s=0.01)
    keeper.begin()
    for _ in range(3):
        keeper.changed(tmp_path)
        time.sleep(0.03)
    keeper.close()
    assert len(told) == 1
    assert "is broken" in told[0]


def test_each_play_of_a_past_draws_inferred_moments_inside_their_bounds() -> None:
    steps = (Step("i1", (Action("remove", "i1"),), at_ms=0), Step("i2", (Action("remove", "i2"),), at_ms=4_000))
    zero = RecordedAway(RecordedBounds(0.0, 0.0), RecordedBounds(0.0, 0.0))
    past = PastChange(
        0,
        "scale",
        ("i1", "i2"),
        cast("Any", None),
        Plan("scale", steps),
        zero,
        1,
        False,
        True,
        ((0, 3_000), (2_000, 5_000)),
    )
    moments = [tuple(step.at_ms or 0 for step in past.drawn_plan(str(seed)).steps) for seed in range(50)]
    assert all(0 <= first <= 3_000 and max(first, 2_000) <= second <= 5_000 for first, second in moments)
    assert len(set(moments)) > 40
    assert past.drawn_plan("1") == past.drawn_plan("1")
