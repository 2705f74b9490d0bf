"""The summary of a scoring run on a terminal: foreign names are data, whatever they contain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assignor_lab.cli.text import console, note, print_line, table

__all__ = ["print_summary"]


def print_summary(summary: Mapping[str, Any], out: Path) -> None:
    """Prints who is best in what, what failed, how often Kafka decided the same, and where the files are."""
    results, run = summary["results"], summary["run_metrics"]
    names = [assignor["name"] for assignor in results["assignors"] if assignor["rows"]]
    console().print(table(("METRIC", "UNIT", "BETTER", *names), _figures(results, names)))
    console().print(table(("ASSIGNOR", "PLACE", "MEAN PLACE", "ROWS", "FAILED", "EQUALS KAFKA"), _places(results)))
    for failure in results["failures"][:10]:
        who = failure["assignor"] or "others"
        print_line(f"{failure['rows']} rows of {who} failed: {failure['type']}: {failure['message']}")
    for assumption in results["assumptions"][:10]:
        print_line(f"assumed in {assumption['states']} states: {assumption['text']}")
    for assignor in results["assignors"]:
        if assignor["status"] == "not_loaded":
            note(f"{assignor['name']} was not scored: {assignor['reason']}")
    print_line(
        f"{results['states']:,} states, {results['rows']:,} rows, {results['failed_rows']:,} failed; "
        f"{run['seconds']:,.1f} s, {run['states_per_second'] or 0:,.1f} states per second, "
        f"{run['rows_per_second'] or 0:,.1f} rows per second"
    )
    print_line(f"tables: {out / 'scores.parquet'}")
    print_line(f"summary: {out / 'summary.json'}")
    print_line(f"report: {out / 'report.html'}")


def _figures(results: Mapping[str, Any], names: Sequence[str]) -> list[tuple[str, ...]]:
    """Mean of each metric by assignor, over the states that all of them answered where they are ranked."""
    means = {(entry["assignor"], entry["metric"]): entry["mean"] for entry in results["aggregates"]}
    for entry in results["ranking"]["by_metric"]:
        means.update({(place["assignor"], entry["metric"]): place["mean"] for place in entry["places"]})
    rows = []
    for metric in results["metrics"]:
        own = [means.get((name, metric["name"])) for name in names]
        if any(mean is not None for mean in own):
            better = {"lower": "less", "higher": "more"}.get(metric["direction"], "-")
            rows.append((metric["name"], metric["unit"], better, *(_number(mean) for mean in own)))
    return rows


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3f}".rstrip("0").rstrip(".")


def _places(results: Mapping[str, Any]) -> list[tuple[str, ...]]:
    places = {entry["assignor"]: entry for entry in results["ranking"]["overall"]}
    agreements = {entry["assignor"]: entry for entry in results["agreement"]}
    rows: list[tuple[str, ...]] = []
    for assignor in results["assignors"]:
        name = assignor["name"]
        place, agreement = places.get(name), agreements.get(name)
        rows.append(
            (
                name,
                "-" if place is None else str(place["place"]),
                "-" if place is None else _number(place["mean_place"]),
                str(assignor["rows"]),
                str(assignor["failed_rows"]),
                "-" if agreement is None else f"{agreement['equal']} of {agreement['compared']}",
            )
        )
    return rows
