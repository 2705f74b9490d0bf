from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import discover
from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.formats.episodes import read_episode
from calibration.episodes import import_episode
from calibration.episodes.decided_again import DecidedAgain

pytestmark = pytest.mark.slow

CAPTURES = Path(__file__).parents[1] / "data" / "captures"
RECORDINGS = {
    "D": (CAPTURES / "downtime" / "D" / "timeline.json.gz", CAPTURES / "downtime" / "D"),
    "orders-group-1": (CAPTURES / "timelines" / "orders-group.json.gz", CAPTURES / "orders-group-1"),
    "orders-group-3": (CAPTURES / "timelines" / "orders-group-3.json.gz", CAPTURES / "orders-group-3"),
}


def repeated(timeline: Path, document: dict[str, Any]) -> tuple[int, int]:
    episode = read_episode(scenario_from_document(document, Place("episode")))
    process = {
        member: str(event.details.process_id) for event in episode.events for member in event.details.member_ids or ()
    }
    again = DecidedAgain(
        read_timeline(timeline), episode.tasks, 1, brokers_assignor(discover(), None, episode.config).ask
    )
    return sum(again.ask(each, process) == each.target for each in again.decisions), len(again.decisions)


@pytest.mark.parametrize(("name", "targets"), [("D", 20), ("orders-group-1", 21), ("orders-group-3", 19)])
def test_every_recorded_target_follows_task_by_task_from_the_one_before(name: str, targets: int) -> None:
    assert repeated(RECORDINGS[name][0], import_episode(*RECORDINGS[name])) == (targets, targets)


@pytest.mark.parametrize("name", ["orders-group-1", "orders-group-3"])
def test_ids_that_are_hidden_are_replaced_by_others_that_give_the_same(name: str, tmp_path: Path) -> None:
    timeline, folder = RECORDINGS[name]
    shutil.copy(folder / "configs.jsonl", tmp_path)
    shown, made_up = import_episode(timeline, folder), import_episode(timeline, tmp_path)
    ids = [{event["process_id"] for event in each["events"] if event["type"] == "start"} for each in (shown, made_up)]
    assert len(ids[0]) == len(ids[1]) == 4
    assert not ids[0] & ids[1]
    same, targets = repeated(timeline, made_up)
    assert any(f"gives {same} of the {targets} recorded targets" in sentence for sentence in made_up["assumptions"])
    assert same == targets


def test_the_same_recording_gives_the_same_ids() -> None:
    assert import_episode(*RECORDINGS["D"]) == import_episode(*RECORDINGS["D"])


def test_where_no_ids_give_what_was_recorded_they_are_in_its_order_and_the_search_comes_to_an_end(
    tmp_path: Path,
) -> None:
    """Targets that none of Kafka's assignors gave, with more processes than slots."""
    timeline, folder = RECORDINGS["D"]
    document = json.loads(gzip.decompress(timeline.read_bytes()))
    first, names = document["actions"][3]["t"], [f"d{number}" for number in range(70)]
    members = {f"member-{number:03}": f"{name}-StreamThread-1-consumer" for number, name in enumerate(names)}
    document |= {
        "actions": [{"t": first, "event": "start", "instance": name} for name in names],
        "clients": members,
        "member_states": [
            each
            for member in members
            for each in (
                {"t": first + 10, "member": member, "event": "joins"},
                {"t": first + 10, "member": member, "state": "STABLE", "active": [], "standby": []},
            )
        ],
        "targets": [
            {"t": first + 5_000 + number, "epoch": number, "target": {each: {"active": []} for each in members}}
            for number in range(1, 4)
        ],
    }
    (tmp_path / "timeline.json").write_text(json.dumps(document))
    config = json.loads((folder / "configs.jsonl").read_text().splitlines()[0])["config"]
    (tmp_path / "configs.jsonl").write_text(
        "\n".join(json.dumps({"instance": name, "config": {**config, "client.id": name}}) for name in names)
    )
    episode = import_episode(tmp_path / "timeline.json", tmp_path)
    assert any("in the order in which its assignments go round" in sentence for sentence in episode["assumptions"])
    assert len({event["process_id"] for event in episode["events"]}) == 70
