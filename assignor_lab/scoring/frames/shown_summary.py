"""The summary of a run in a notebook: its values, as a mapping with the keys of ``summary.json``, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api.notebook import paragraph, table
from assignor_lab.documents.wording import mean, plural, signed, unit_words
from assignor_lab.model.comparisons import FigureCompared, ValueCompared
from assignor_lab.model.run_summary import RunSummary
from assignor_lab.scoring.output.summary_file import summary_document

__all__ = ["ShownSummary"]

#: Words for the verdict of a difference's interval.
_TELLS = {"better": "better", "worse": "worse", "equal": "the same everywhere", "unclear": "not distinguishable"}


@attrs.frozen(eq=False)
class ShownSummary(Mapping[str, Any]):
    """A mapping with the keys of ``summary.json`` (docs, "The summary file")."""

    summary: RunSummary = attrs.field(repr=False)
    document: Mapping[str, Any] = attrs.field(init=False, repr=False)

    @document.default
    def _written(self) -> Mapping[str, Any]:
        # A frame has no moves to explain, and its source is not verified.
        document = summary_document(self.summary)
        return {name: document[name] for name in ("format", "results", "run_metrics")}

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def _repr_html_(self) -> str:
        """The five figures, a table for each measured one, preceded by remarks."""
        results = self.summary.results
        parts = [paragraph(f"{plural(results.states, 'decision')}, {plural(results.rows, 'answer')}.")]
        parts += [
            paragraph(f"Not comparable in {plural(each.states, 'decision')}: {each.reason}")
            for each in results.not_comparable[:3]
        ]
        headline = results.headline
        if headline is not None:
            unit = "decisions" if headline.alone == headline.states else "histories"
            parts += [_figure(each, headline.baseline, unit) for each in headline.figures if each.of]
            missing = [f"{each.title.lower()} ({each.not_measured})" for each in headline.figures if not each.of]
            if missing:
                parts.append(paragraph(f"Not measured here: {'; '.join(missing)}."))
        if results.failed_rows:
            failed = plural(results.failed_rows, "answer")
            parts.append(paragraph(f"{failed} failed: see summary['results']['failures']."))
        return f"<div>{''.join(parts)}</div>"


def _figure(figure: FigureCompared, baseline: str | None, histories: str) -> str:
    unit = figure.unit or ""
    way = {"lower": ", less is better", "higher": ", more is better"}.get(figure.direction or "", "")
    columns = ["assignor", "mean", f"difference from {baseline}", "95 % interval", "which tells"]
    rows = [
        [
            each.assignor,
            mean(each.mean, unit),
            None if each.difference is None else signed(each.difference, unit),
            None if each.low is None or each.high is None else f"{signed(each.low, unit)} to {signed(each.high, unit)}",
            None if each.tells is None else _verdict(each, histories),
        ]
        for each in figure.of
    ]
    return table(f"{figure.title}: {unit_words(unit).lower()}{way}", columns, rows)


def _verdict(value: ValueCompared, histories: str) -> str:
    why = value.no_interval
    return _TELLS.get(value.tells or "") or (
        "nothing" if why is None else f"nothing: {why.reason.replace('histories', histories)}"
    )
