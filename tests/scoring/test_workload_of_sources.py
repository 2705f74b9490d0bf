"""A workload for sources of every kind: its weights, and a sentence if it applies to no task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignment_api.plugins import discover
from assignor_lab.capture.histories.past_terms import PastTerms
from assignor_lab.scoring.sources.reading import NoWorkloadError, plan_sources
from assignor_lab.simulation.connect.named_episodes import EPISODES as CONNECT
from assignor_lab.simulation.streams.named_episodes import EPISODES


@pytest.fixture
def terms(tmp_path: Path) -> PastTerms:
    file = tmp_path / "workload.json"
    file.write_text(json.dumps({"restore_bytes_per_s": 7}))
    return PastTerms(workload=str(file))


def test_an_episode_is_weighed(terms: PastTerms) -> None:
    with plan_sources([EPISODES["rolling-restart"].document()], discover(), past=terms) as plan:
        (scenario,) = plan.scenarios()
    assert scenario.document["timings"]["restore_bytes_per_s"] == 7


def test_what_has_no_workload_is_told(terms: PastTerms) -> None:
    with pytest.raises(NoWorkloadError, match="connect-episode"):
        plan_sources([CONNECT["worker-joins"].document()], discover(), past=terms)
