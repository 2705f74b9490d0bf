from __future__ import annotations

from functools import cache
from pathlib import Path

from assignment_api.plugins import config_sources, discover
from assignor_lab.advising.configurations import AdvisedState
from assignor_lab.planning.making import Options
from assignor_lab.planning.predict import Terms
from assignor_lab.planning.state import present_state, under_configuration
from assignor_lab.scenarios import read_scenarios
from assignor_lab.scenarios.settings import given_settings

__all__ = ["PLANS", "recorded_group"]

PLANS = Path(__file__).parents[1] / "data" / "captures" / "plans"


@cache
def recorded_group(name: str) -> AdvisedState:
    (state,) = read_scenarios(PLANS / name / "capture.jsonl")
    sources = config_sources(PLANS / name / "application.properties", environ={})
    terms = Terms(discover(), sources, given_settings(sources.above))
    return AdvisedState(
        under_configuration(present_state(state, terms.settings), sources), terms, Options(start_ms=2_200)
    )
