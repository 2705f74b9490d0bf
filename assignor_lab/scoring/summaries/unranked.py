"""Results without a verdict, for sources with recorded decisions that are not reproduced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["without_verdict"]


def without_verdict(results: Mapping[str, Any]) -> dict[str, Any]:
    """The summary's ``results`` without places and differences: the means stay, and gates are not judged."""
    ranking = results["ranking"]
    by_metric = [
        {**each, "places": [{**place, "place": None} for place in each["places"]]} for each in ranking["by_metric"]
    ]
    return {
        **results,
        "headline": {
            **results["headline"],
            "best": [],
            "figures": [_means(each) for each in results["headline"]["figures"]],
        },
        "ranking": {**ranking, "overall": [], "by_metric": by_metric},
        "differences": [],
        "worst_cases": [],
        "gates": [{**gate, **_NOT_JUDGED} for gate in results["gates"]],
    }


_NOT_JUDGED = {
    **dict.fromkeys(("value", "bound", "limit", "no_limit")),
    "status": "unknown",
    "reason": "not judged: the recorded decisions are not reproduced, so there is no verdict",
}


def _means(figure: Mapping[str, Any]) -> dict[str, Any]:
    compared = ("difference", "low", "high", "level", "no_interval", "lower", "equal", "higher", "tells")
    nothing = dict.fromkeys(compared)
    return {**figure, "best": [], "of": [{**value, **nothing} for value in figure["of"]]}
