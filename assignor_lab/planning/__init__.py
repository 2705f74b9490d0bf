"""Plans: the cost of the next change of a running Streams group, predicted from its captured state."""

from assignor_lab.planning.making import (
    Options,
    PlanError,
    kill_plan,
    roll_plan,
    scale_plan,
    upgrade_protocol_plan,
)
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.planning.predict import Terms, predict, predict_from
from assignor_lab.planning.predicted import Prediction, Range, StepRange
from assignor_lab.planning.state import PresentState, present_state

__all__ = [
    "Action", "Options", "Plan", "PlanError", "Prediction", "PresentState", "Range", "Step", "StepRange", "Terms",
    "kill_plan", "predict", "predict_from", "present_state", "roll_plan", "scale_plan", "upgrade_protocol_plan",
]  # fmt: skip
