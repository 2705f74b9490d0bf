"""``assignor plugins``: the installed plugins, and the reasons for unusable ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.text import console, plain, print_json, table

if TYPE_CHECKING:
    from assignment_api.plugins import PluginRow

__all__ = ["register"]

#: Most characters of names and distributions; longer ones are folded.
_NAME_WIDTH, _FROM_WIDTH = 36, 20

_TITLES = {
    "task-assignor": "Task assignors (Kafka Streams, classic protocol)",
    "group-assignor": "Group assignors (Kafka Streams, streams protocol)",
    "connect-assignor": "Connect assignors",
    "consumer-assignor": "Consumer assignors (plain consumers, classic protocol)",
    "consumer-group-assignor": "Consumer-group assignors (plain consumers, KIP-848)",
    "share-group-assignor": "Share-group assignors (KIP-932)",
    "connector": "Connectors (`assignor connect serve`)",
    "metric": "Metrics",
    "scenario-family": "Scenario families",
    "observer": "Observers of Streams assignments",
    "connect-observer": "Observers of Connect assignments",
    "group-observer": "Observers of broker-side assignments",
    "partition-observer": "Observers of assignments of consumer groups and share groups",
    "plugin": "Entry points that gave nothing",
    "policy": "Items of the policy",
}


class PluginKind(StrEnum):
    """Values of ``--kind``."""

    TASK_ASSIGNOR = "task-assignor"
    GROUP_ASSIGNOR = "group-assignor"
    CONNECT_ASSIGNOR = "connect-assignor"
    CONSUMER_ASSIGNOR = "consumer-assignor"
    CONSUMER_GROUP_ASSIGNOR = "consumer-group-assignor"
    SHARE_GROUP_ASSIGNOR = "share-group-assignor"
    CONNECTOR = "connector"
    METRIC = "metric"
    SCENARIO_FAMILY = "scenario-family"
    OBSERVER = "observer"
    CONNECT_OBSERVER = "connect-observer"
    GROUP_OBSERVER = "group-observer"
    PARTITION_OBSERVER = "partition-observer"
    PLUGIN = "plugin"
    POLICY = "policy"


Kinds = Annotated[
    list[PluginKind] | None,
    typer.Option("--kind", metavar="KIND", help=f"Only this kind ({', '.join(PluginKind)}); may be repeated."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("plugins")(_plugins)


def _plugins(kind: Kinds = None, config: ConfigFile = None, c: Overrides = None, json: Json = False) -> None:
    """List assignors, metrics and scenario families, with the reasons for unusable ones.

    An unusable plugin affects no other plugin, so the exit code is 0.
    """
    import attrs

    from assignor_lab.runtime.discovery import discovered

    rows = [
        row
        for row in discovered(sources(config, c).effective()).registry.listing()
        if not kind or row.kind in [each.value for each in kind]
    ]
    if json:
        print_json({"plugins": [attrs.asdict(row) for row in rows], "distributions": _distributions(rows)})
    else:
        _print_tables(rows)


def _print_tables(rows: Sequence[PluginRow]) -> None:
    """A table for each kind; if all rows come from one distribution, the heading names it instead of a column."""
    from rich.text import Text

    kinds = dict.fromkeys([*_TITLES, *(row.kind for row in rows)])
    shown = console()
    for kind in kinds:
        of_kind = [row for row in rows if row.kind == kind]
        origins = {_origin(row) for row in of_kind}
        if not of_kind:
            continue
        heading = _TITLES.get(kind, kind)
        if len(origins) == 1:
            (origin,) = origins
            heading += f", from {origin}" if origin else ""
            made = table(("NAME", "ABOUT"), [(_name(row), _about(row)) for row in of_kind])
        else:
            made = table(("NAME", "FROM", "ABOUT"), [(_name(row), _origin(row), _about(row)) for row in of_kind])
            made.columns[1].max_width = _FROM_WIDTH
        made.columns[0].max_width = _NAME_WIDTH
        shown.print(Text(plain(heading), style="bold"))
        shown.print(made)


def _name(row: PluginRow) -> str:
    return f"{row.name} ({', '.join(row.aliases)})" if row.aliases else row.name


def _origin(row: PluginRow) -> str:
    return f"{row.distribution} {row.version}".strip()


def _about(row: PluginRow) -> str:
    return row.summary if row.status == "available" else f"{row.status}: {row.reason or row.summary}"


def _distributions(rows: Iterable[PluginRow]) -> dict[str, Any]:
    """Version and hash of each distribution's RECORD: the content of a pin."""
    from assignment_api.plugins import record_sha256
    from assignment_api.plugins.installed import installed_distribution, name_and_version

    found: dict[str, Any] = {}
    for name in dict.fromkeys(row.distribution for row in rows):
        try:
            distribution = installed_distribution(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
        _, version = name_and_version(distribution)
        found[name] = {"version": version, "record_sha256": record_sha256(distribution)}
    return found
