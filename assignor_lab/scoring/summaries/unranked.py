"""Results without a verdict, for sources with recorded decisions that are not reproduced."""

from __future__ import annotations

import attrs

from assignor_lab.model.comparisons import FigureCompared, ValueCompared, Verdict
from assignor_lab.model.run_summary import MetricRanking, Ranking, Results

__all__ = ["without_verdict"]


def without_verdict(results: Results) -> Results:
    """The results without places and differences: the means stay, and gates are not judged."""
    headline = results.headline
    if headline is not None:
        headline = attrs.evolve(headline, best=(), figures=tuple(map(_means, headline.figures)))
    by_metric = tuple(map(_without_places, results.ranking.by_metric))
    return attrs.evolve(
        results,
        headline=headline,
        ranking=Ranking(results.ranking.method, results.ranking.states, (), by_metric),
        differences=(),
        worst_cases=(),
        gates=tuple(map(_not_judged, results.gates)),
    )


def _not_judged(gate: Verdict) -> Verdict:
    reason = "not judged: the recorded decisions are not reproduced, so there is no verdict"
    return attrs.evolve(gate, status="unknown", value=None, bound=None, limit=None, no_limit=None, reason=reason)


def _without_places(ranking: MetricRanking) -> MetricRanking:
    return attrs.evolve(ranking, places=tuple(attrs.evolve(each, place=None) for each in ranking.places))


def _means(figure: FigureCompared) -> FigureCompared:
    return attrs.evolve(figure, best=(), of=tuple(ValueCompared(each.assignor, each.mean) for each in figure.of))
