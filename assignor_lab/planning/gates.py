"""Conditions under which ``assignor plan`` fails: a figure of the answer, a sign, a number."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from assignment_api import AssignorLabError

__all__ = ["PlanGate", "PlanGateError", "parse_plan_gate"]

_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip
_GATE = re.compile(r"\A([A-Za-z_][\w.]{0,199})\s{0,9}(>=|<=|>|<)\s{0,9}(-?[0-9]{1,15}(?:\.[0-9]{1,15})?)", re.ASCII)


class PlanGateError(AssignorLabError):
    """A condition of ``--fail-if`` is not in its form, or names no figure of the answer."""


@attrs.frozen
class PlanGate:
    """A condition.

    Args:
        path: The figure: keys of the answer's JSON, one below the other.
        sign: ``>``, ``>=``, ``<`` or ``<=``.
    """

    expression: str
    path: tuple[str, ...]
    sign: str
    bound: float

    def judged(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The result for an answer: ``expression``, ``value``, ``status`` (passed, failed, unknown) and ``reason``.

        Raises:
            PlanGateError: if the answer has no such figure.
        """
        value: Any = document
        for place, key in enumerate(self.path):
            if value is None:
                break
            if not isinstance(value, Mapping) or key not in value:
                known = ", ".join(sorted(value)) if isinstance(value, Mapping) else "a number"
                where = ".".join(self.path[:place]) or "the answer"
                raise PlanGateError(f"--fail-if {self.expression!r:.200}: {where} has no {key!r:.80}, but {known:.300}")
            value = value[key]
        if isinstance(value, Mapping) or not isinstance(value, (int, float, type(None))):
            raise PlanGateError(f"--fail-if {self.expression!r:.200}: {'.'.join(self.path)} is no number")
        name = ".".join(self.path)
        if value is None:
            return {"expression": self.expression, "value": None, "status": "unknown", "reason": f"{name} is unknown"}
        failed = _SIGNS[self.sign](value, self.bound)
        return {
            "expression": self.expression,
            "value": value,
            "status": "failed" if failed else "passed",
            "reason": f"{name} is {value:g}",
        }


def parse_plan_gate(text: str) -> PlanGate:
    """A condition from its text, such as ``total.worst_task_seconds.high > 30``.

    Raises:
        PlanGateError: if it is written in another way.
    """
    found = _GATE.fullmatch(text.strip())
    if found is None:
        raise PlanGateError(
            f"--fail-if {text!r:.200}: write a figure of the answer's JSON, a sign and a number, such as "
            "'total.worst_task_seconds.high > 30'"
        )
    return PlanGate(text, tuple(found[1].split(".")), found[2], float(found[3]))
