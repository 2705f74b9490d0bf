"""The metrics of a run: usual ones, requested ones, and those of figures and gates."""

from __future__ import annotations

import sys
from importlib import util
from typing import Any

import pytest

from assignment_api.optimum import SolverMissingError
from assignment_api.plugins import discover
from assignor_lab.groups.columns import RENAMED, column_names
from assignor_lab.groups.connect.kind import CONNECT
from assignor_lab.groups.entries import entries
from assignor_lab.groups.kind import GroupKind
from assignor_lab.groups.streams.kind import STREAMS
from assignor_lab.groups.streams_group.kind import STREAMS_GROUP
from assignor_lab.scoring.selected_metrics import MetricNameError, all_metrics, metrics_of_run, requested

REGISTRY = discover()
KINDS = [entry.load() for entry in entries() if entry.is_scored]
FIGURES = {name for figure in STREAMS.headline for name in figure.metrics}


def test_without_a_request_the_usual_metrics_are_computed_and_no_gap() -> None:
    assert requested(STREAMS, REGISTRY, ()) is None
    assert not [name for name in metrics_of_run(STREAMS, REGISTRY, None) if name.startswith("gap")]


def test_the_figures_belong_to_every_run() -> None:
    assert set(requested(STREAMS, REGISTRY, ["headline"]) or ()) == FIGURES
    assert set(requested(STREAMS, REGISTRY, ["active_tasks_per_member_range"]) or ()) >= FIGURES


def test_a_gate_adds_its_metric() -> None:
    assert "standbys_moved" in (requested(STREAMS, REGISTRY, ["headline"], ["standbys_moved"]) or ())
    with_gap = requested(STREAMS, REGISTRY, (), ["gap_moves"]) or ()
    assert {"gap_moves", *STREAMS.metrics(REGISTRY)} == set(with_gap)


@pytest.mark.parametrize("kind", [STREAMS, STREAMS_GROUP, CONNECT])
def test_every_kind_has_gaps_on_request(kind: GroupKind[Any, Any]) -> None:
    names = requested(kind, REGISTRY, ["gaps"]) or ()
    assert {"gap_balance", "gap_balance_share", "gap_moves"} <= set(names)
    assert list(names) == [name for name in all_metrics(kind, REGISTRY) if name in names]


def test_an_unknown_metric_is_refused_with_a_near_name() -> None:
    with pytest.raises(MetricNameError, match="did you mean 'gap_moves'"):
        requested(STREAMS, REGISTRY, ["gap_move"])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_former_name_is_refused_with_the_present_one(kind: GroupKind[Any, Any]) -> None:
    present = all_metrics(kind, REGISTRY)
    for old, new in RENAMED.items():
        assert old not in present
        if new in present:
            with pytest.raises(MetricNameError, match=f"no metric '{old}' .*did you mean '{new}'"):
                requested(kind, REGISTRY, [old])


def test_every_former_name_stands_for_a_column_or_a_metric() -> None:
    names = column_names().union(*(all_metrics(kind, REGISTRY) for kind in KINDS))
    assert set(RENAMED.values()) <= names
    assert not RENAMED.keys() & names


def test_gaps_without_a_solver_are_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    monkeypatch.setattr(util, "find_spec", lambda _name: None)
    monkeypatch.setattr("assignor_lab.groups.metrics.gaps.find_spec", lambda _name: None)
    with pytest.raises(SolverMissingError, match=r"assignor-lab\[optimum\]"):
        requested(STREAMS, REGISTRY, ["gaps"])
