"""The how-to page *Restart in the best order*, with a running group of four instances."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.calibration.live.__main__ import Probe, assignor, captured
from tests.calibration.live.orders import SHAPES, ScriptedApplication, one_by_one

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScriptedApplication]:
    made = ScriptedApplication(tmp_path_factory.mktemp("best"), SHAPES[0], is_one_process=True)
    try:
        made.start_broker()
        made.create_topics()
        made.write_commands()
        made.start_all()
        yield made
    finally:
        made.close()


def test_the_script_of_the_best_order_takes_far_less_time_than_one_by_one(application: ScriptedApplication) -> None:
    # 1. Capture the group.
    state, config = captured(application)

    # 2. Search.
    words = ("plan", state, "roll", "--best", "--config", config, "--start-seconds", "2..8", "--plays", "10")
    best: dict[str, Any] = json.loads(assignor(*words, "--json"))
    assert best["proof"]["is_proved"]
    assert sorted(map(len, best["best"]["batches"])) == [2, 2]

    # 5. Restart.
    assert len(json.loads(assignor(*words, "--form", "kubernetes").partition("\n")[2])["steps"]) == 2
    script = assignor(*words, "--form", "script")
    probe = Probe(application.address, application.sizes)
    in_order, _ = application.rolled(probe, script)
    single, _ = application.rolled(probe, one_by_one(script, application.names))
    probe.close()
    print(f"best {in_order}, one by one {single}; planned {best['total']['duration_seconds']}")
    assert in_order["duration_seconds"] <= 0.65 * single["duration_seconds"]
