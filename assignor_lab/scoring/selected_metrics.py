"""The metrics of a run: all usual ones, or those that were requested and those that its figures and gates need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignment_api import AssignorLabError
from assignment_api.optimum import SolverMissingError
from assignment_api.plugins import Found, MetricPlugin, Registry
from assignor_lab.groups.columns import suggested_name
from assignor_lab.groups.kind import GroupKind
from assignor_lab.groups.metrics.gaps import GAPS, has_solver
from assignor_lab.groups.runner.measures import own_metrics

__all__ = ["HEADLINE", "USUAL", "MetricNameError", "all_metrics", "metrics_of_run", "requested"]

#: Names of several metrics: those of the five figures; those of a run without the option.
HEADLINE, USUAL = "headline", "usual"


class MetricNameError(AssignorLabError):
    """A requested metric does not exist."""


def all_metrics(kind: GroupKind[Any, Any], registry: Registry) -> dict[str, Found[MetricPlugin]]:
    """Column to metric: the usual ones, then those that are computed on request alone."""
    return {**kind.metrics(registry), **own_metrics(kind.on_request)}


def metrics_of_run(
    kind: GroupKind[Any, Any], registry: Registry, names: Sequence[str] | None
) -> Mapping[str, Found[MetricPlugin]]:
    """Column to metric; names of metrics that are not installed are left out.

    Args:
        names: The columns; ``None``: the usual ones.
    """
    if names is None:
        return kind.metrics(registry)
    wanted = set(names)
    return {name: found for name, found in all_metrics(kind, registry).items() if name in wanted}


def requested(
    kind: GroupKind[Any, Any], registry: Registry, words: Sequence[str], gates: Iterable[str] = ()
) -> tuple[str, ...] | None:
    """The columns of a run; ``None``: the usual ones.

    The metrics of the five figures belong to every run, and so do those of gates.

    Args:
        words: Names of metrics, or ``headline``, ``gaps`` or ``usual``; also several, separated by commas.
        gates: Metrics of the gates.

    Raises:
        MetricNameError: if a metric does not exist.
        SolverMissingError: if gaps are requested and the solver is not installed.
    """
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    known, usual = all_metrics(kind, registry), kind.metrics(registry)
    # A gate may need a gap that was not requested.
    gates = [name for name in gates if name in known]
    if not words:
        if all(name in usual for name in gates):
            return None
        names = [USUAL]
    gaps = [metric.name for metric in kind.on_request if metric.group == GAPS]
    several: dict[str, Iterable[str]] = {HEADLINE: (), USUAL: usual, GAPS: gaps}
    wanted = {name for figure in kind.headline for name in figure.metrics} | set(gates)
    for name in names:
        if name not in known and name not in several:
            close = suggested_name(name, (*known, *several))
            remedy = f"did you mean {close!r}?" if close else f"there are: {', '.join((*several, *known))}"
            raise MetricNameError(f"--metrics: no metric {name!r} for {kind.name}; {remedy}")
        wanted |= set(several.get(name, (name,)))
    if wanted.intersection(gaps) and not has_solver():
        raise SolverMissingError("gaps need the solver HiGHS: pip install 'assignor-lab[optimum]'")
    return tuple(name for name in known if name in wanted)
