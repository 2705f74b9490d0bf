"""``assignor plugins``: the installed plugins, and the reasons for unusable ones."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from assignor_lab.cli.options import ConfigFile, Json, Overrides, sources
from assignor_lab.cli.plugin_tables import print_plugins

__all__ = ["register"]


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
    print_plugins(sources(config, c), [each.value for each in kind or ()], as_json=json)
