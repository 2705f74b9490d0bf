"""``assignor plugins``: what is installed, and why something cannot be used."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from typing import Any

import attrs
import typer

from assignment_api.plugins import PluginRow, discover, record_sha256
from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, print_json, table

__all__ = ["register"]

_COLUMNS = ("NAME", "KIND", "DISTRIBUTION", "VERSION", "STATUS", "REASON OR SUMMARY")


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command()
    def plugins(config: ConfigFile = None, c: Overrides = None, json: Json = False) -> None:
        """List assignors, metrics and scenario families, and say why something cannot be used.

        A plugin that cannot be used costs nothing else anything, so the exit code is 0 all the same.
        """
        rows = discover(sources(config, c).effective().policy()).listing()
        if json:
            print_json({"plugins": [attrs.asdict(row) for row in rows], "distributions": _distributions(rows)})
        else:
            console().print(table(_COLUMNS, map(_cells, rows)))


def _cells(row: PluginRow) -> tuple[str, ...]:
    name = f"{row.name} ({', '.join(row.aliases)})" if row.aliases else row.name
    return (name, row.kind, row.distribution, row.version, row.status, row.reason or row.summary)


def _distributions(rows: Iterable[PluginRow]) -> dict[str, Any]:
    """Version and hash of each distribution's RECORD: what a pin is made of."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(row.distribution for row in rows):
        try:
            distribution = metadata.distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
        found[name] = {"version": distribution.version, "record_sha256": record_sha256(distribution)}
    return found
