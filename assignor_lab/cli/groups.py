"""``assignor groups``: the groups of a running Kafka."""

from __future__ import annotations

from typing import Annotated

import typer

from assignor_lab.cli.cluster_options import BootstrapServer, CommandConfig, Timeout
from assignor_lab.cli.contexts import ContextName, addressed
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, note, print_json, print_line, table

__all__ = ["register"]

All = Annotated[bool, typer.Option("--all", help="Show groups too that are none of Streams, Connect or consumers.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("groups")(_groups)


def _groups(
    bootstrap_server: BootstrapServer = None,
    context: ContextName = None,
    command_config: CommandConfig = None,
    all_: All = False,
    timeout: Timeout = 30,
    json: Json = False,
) -> None:
    """List the groups of a running Kafka: kind, state, members, and tasks or partitions.

    Sends read-only requests: joins no group, commits and writes nothing.
    """
    import attrs

    from assignor_lab.capture.live.access import read_access
    from assignor_lab.capture.live.cluster import connected
    from assignor_lab.capture.live.listing import OTHER, list_groups
    from assignor_lab.documents.wording import plural

    access = read_access(*addressed(bootstrap_server, command_config, context), timeout)
    with connected(access) as cluster:
        found = list_groups(cluster)
    shown = [each for each in found if all_ or each.kind != OTHER]
    if json:
        print_json([attrs.asdict(each) for each in shown])
    elif shown:
        columns = ("GROUP", "KIND", "STATE", "MEMBERS", "PROCESSES", "TASKS", "GENERATION", "")
        rows = [["" if value is None else value for value in attrs.astuple(each)] for each in shown]
        console().print(table(columns, rows))
    else:
        print_line("no group of Streams, Connect or consumers")
    if len(shown) < len(found):
        others = len(found) - len(shown)
        note(f"{others} other {'group is' if others == 1 else 'groups are'} not shown: --all shows them")
    if refused := sum(each.is_refused for each in found):
        note(f"{plural(refused, 'group')} may not be described: DESCRIBE on the group is needed to see its kind")
