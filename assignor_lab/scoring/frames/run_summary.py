"""The summary of a run in a notebook: the document of ``summary.json``, displayed as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from assignment_api.notebook import paragraph, table
from assignor_lab.documents.wording import mean, plural, signed, unit_words

__all__ = ["RunSummary"]

#: Words for the verdict of a difference's interval.
_TELLS = {"better": "better", "worse": "worse", "equal": "the same everywhere", "unclear": "not distinguishable"}


@attrs.frozen(eq=False)
class RunSummary(Mapping[str, Any]):
    """A mapping with the keys of ``summary.json`` (docs, "The summary file")."""

    document: Mapping[str, Any] = attrs.field(repr=False)

    def __getitem__(self, key: str) -> Any:
        return self.document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.document)

    def __len__(self) -> int:
        return len(self.document)

    def _repr_html_(self) -> str:
        """The five figures, a table for each measured one, preceded by remarks."""
        results = self.document["results"]
        headline = results["headline"]
        parts = [paragraph(f"{plural(results['states'], 'decision')}, {plural(results['rows'], 'answer')}.")]
        parts += [
            paragraph(f"Not comparable in {plural(each['states'], 'decision')}: {each['reason']}")
            for each in results["not_comparable"][:3]
        ]
        unit = "decisions" if headline["alone"] == headline["states"] else "histories"
        parts += [_figure(each, headline["baseline"], unit) for each in headline["figures"] if each["of"]]
        missing = [
            f"{each['title'].lower()} ({each['not_measured']})" for each in headline["figures"] if not each["of"]
        ]
        if missing:
            parts.append(paragraph(f"Not measured here: {'; '.join(missing)}."))
        if results["failed_rows"]:
            failed = plural(results["failed_rows"], "answer")
            parts.append(paragraph(f"{failed} failed: see summary['results']['failures']."))
        return f"<div>{''.join(parts)}</div>"


def _figure(figure: Mapping[str, Any], baseline: str | None, histories: str) -> str:
    unit = figure["unit"] or ""
    way = {"lower": ", less is better", "higher": ", more is better"}.get(figure["direction"], "")
    columns = ["assignor", "mean", f"difference from {baseline}", "95 % interval", "which tells"]
    rows = [
        [
            each["assignor"],
            mean(each["mean"], unit),
            None if each["difference"] is None else signed(each["difference"], unit),
            None if each["low"] is None else f"{signed(each['low'], unit)} to {signed(each['high'], unit)}",
            None if each["tells"] is None else _verdict(each, histories),
        ]
        for each in figure["of"]
    ]
    return table(f"{figure['title']}: {unit_words(unit).lower()}{way}", columns, rows)


def _verdict(value: Mapping[str, Any], histories: str) -> str:
    why = value["no_interval"]
    return _TELLS.get(value["tells"]) or (
        "nothing" if why is None else f"nothing: {why['reason'].replace('histories', histories)}"
    )
