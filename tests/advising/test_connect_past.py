"""Pasts of Connect groups: they give the mix of events, and judge the advice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignor_lab.advising.connect_past import connect_past
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.cli.app import build_app
from assignor_lab.scenarios import Place, scenario_from_document

DAY_MS, MINUTE_MS = 86_400_000, 60_000
NAMES = ("w1", "w2", "w3")


def member(name: str, life: int, url: str) -> dict[str, Any]:
    uuid = f"00000000-0000-0000-0000-{life:012d}"
    owned: dict[str, list[str]] = {"connectors": [], "tasks": [f"c-{name[1:]}"]}
    found = {"id": f"{name}-{uuid}", "owned": owned, "static": {"connectors": None, "tasks": None}}
    return {**found, "url": f"http://{name}:8083/"} if url else found


def past(days: Sequence[int], url: str = "") -> dict[str, Any]:
    """A roll of three workers on each of some days, in rounds that last a minute."""
    rounds, life, ids = [], 0, dict.fromkeys(NAMES, 0)

    def look(at_ms: int, there: Sequence[str]) -> None:
        members = [member(name, ids[name], url) for name in there]
        rounds.append({"time_ms": at_ms, "connectors": {"c": 4}, "members": members})

    look(DAY_MS, NAMES)
    for day in days:
        for place, name in enumerate(NAMES):
            begin = (day + 1) * DAY_MS + 3 * place * MINUTE_MS
            look(begin, [each for each in NAMES if each != name])
            life += 1
            ids[name] = life
            look(begin + MINUTE_MS, NAMES)
    return {
        "format": 1, "kind": "connect", "id": "past", "protocol": "sessioned", "max_delay_ms": 300_000,
        "rounds": rounds,
    }  # fmt: skip


@pytest.mark.parametrize("url", ["", "url"])
def test_a_past_gives_the_mix_whether_workers_have_urls_or_client_ids(url: str) -> None:
    found = connect_past([scenario_from_document(past(range(1, 15), url), Place("past"))])
    assert found is not None
    assert found.mix is not None
    assert found.mix.rolls_per_week == pytest.approx(7, rel=0.15)
    assert found.mix.scalings_per_week == 0
    assert found.mix.kills_per_month == DEFAULT_MIX.kills_per_month
    assert found.second is not None
    assert dict(found.second.weights) == {"roll": pytest.approx(1, rel=0.15)}


def test_a_short_past_gives_no_mix() -> None:
    found = connect_past([scenario_from_document(past([0]), Place("past"))])
    assert found is not None
    assert found.mix is None
    assert "too short for frequencies" in found.sentences[0]


def test_a_state_is_no_past() -> None:
    document = past([1])
    document["rounds"] = document["rounds"][:1]
    assert connect_past([scenario_from_document(document, Place("state"))]) is None


def test_the_second_part_of_the_past_judges_the_advice(tmp_path: Path) -> None:
    file = tmp_path / "past.jsonl"
    file.write_text(json.dumps(past(range(1, 15))) + "\n", "utf-8")
    done = CliRunner().invoke(build_app(), ["advise", str(file), "--days", "3", "--configurations", "6", "--json"])
    assert done.exit_code == 0, done.output
    advice = json.loads(done.stdout)
    assert advice["mix"]["source"].startswith("the first ")
    assert advice["figures"]["task_seconds"]["in_past"] is not None
