"""Comparison of a run: the baseline, the gates, and how a state is shown again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from assignor_lab.scoring.replay import Replay

if TYPE_CHECKING:
    from assignor_lab.scoring.gates import Gate, Subjects

__all__ = ["NO_TERMS", "Terms"]


@attrs.frozen
class Terms:
    """What is asked of a run besides its figures.

    Args:
        baseline: Name of the assignor that the others are compared with, or ``None``.
        gates: Conditions under which the build fails.
        subjects: Whom the gates are about; ``None`` without gates.
        replay: How a single state is shown again; ``None``: not known.
    """

    baseline: str | None = None
    gates: tuple[Gate, ...] = ()
    subjects: Subjects | None = None
    replay: Replay | None = None


NO_TERMS = Terms()
