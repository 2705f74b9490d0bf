"""The tables of ``assignor plugins``, without typer: the command alone starts in half of the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from assignor_lab.cli.text import console, note, plain, print_json, table

if TYPE_CHECKING:
    from assignment_api.plugins import ConfigSources, PluginRow

__all__ = ["print_plugins"]

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


def print_plugins(read: ConfigSources | None = None, kinds: Sequence[str] = (), *, as_json: bool = False) -> None:
    """Prints the installed plugins.

    Args:
        read: Sources of the configuration; ``None``: those of a command without options.
        kinds: Only these; empty: all.
    """
    import attrs

    from assignment_api.plugins import config_sources
    from assignor_lab.runtime.discovery import discovered

    config = (read or config_sources()).effective()
    for sentence in () if read else config.notes:
        note(sentence)
    rows = [row for row in discovered(config).registry.listing() if not kinds or row.kind in kinds]
    if as_json:
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
    from importlib.metadata import PackageNotFoundError

    from assignment_api.plugins import record_sha256
    from assignment_api.plugins.installed import installed_distribution, name_and_version

    found: dict[str, Any] = {}
    for name in dict.fromkeys(row.distribution for row in rows):
        try:
            distribution = installed_distribution(name)
        except (PackageNotFoundError, ValueError):
            continue
        _, version = name_and_version(distribution)
        found[name] = {"version": version, "record_sha256": record_sha256(distribution)}
    return found
