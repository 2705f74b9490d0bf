"""Gates: conditions under which a build fails (``assignor score --fail-if``)."""

from assignor_lab.model.comparisons import Verdict
from assignor_lab.scoring.gates.grammar import (
    Bound,
    Gate,
    GateContenders,
    GateError,
    GateNameError,
    GateSyntaxError,
    Named,
    parse_gate,
)
from assignor_lab.scoring.gates.judge import check_gates, judge

__all__ = [
    "Bound",
    "Gate",
    "GateError",
    "GateNameError",
    "GateSyntaxError",
    "Named",
    "GateContenders",
    "Verdict",
    "check_gates",
    "judge",
    "parse_gate",
]
