"""``assignor capture``: groups of a running Kafka as scenarios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.cluster_options import Anonymize, BootstrapServer, CommandConfig, Timeout
from assignor_lab.cli.connect.access import CaFile, ask
from assignor_lab.cli.contexts import ContextName, addressed, group_names
from assignor_lab.cli.options import (
    ConfigFile,
    JsonWritten,
    Overrides,
    RackFiles,
    ScenariosOut,
    check_json,
    print_written,
    sources,
)
from assignor_lab.cli.past_options import StateWorkload, Topology, rack_filler, with_racks
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignor_lab.connect.remote import RemoteConnector

__all__ = ["register"]

_WRONG_USE = 2

Groups = Annotated[
    list[str] | None,
    typer.Option("--group", metavar="GROUP", help="A group to capture; may be repeated.", autocompletion=group_names),
]
All = Annotated[bool, typer.Option("--all", help="Capture all groups of Streams, Connect and consumers with members.")]
Wait = Annotated[
    float,
    typer.Option("--wait", metavar="SECONDS", min=0, max=86_400, help="How long a group that is in motion may take."),
]
ConnectUrls = Annotated[
    list[str] | None,
    typer.Option(
        "--connect-url",
        metavar="URL",
        help="A worker's REST interface, for a Connect group's configuration, which brokers lack; repeatable.",
    ),
]
KeepAnswers = Annotated[
    Path | None,
    typer.Option("--keep-answers", metavar="FILE", help="Keep the brokers' responses, as lines of a recording."),
]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("capture")(_capture)


def _capture(
    bootstrap_server: BootstrapServer = None,
    context: ContextName = None,
    group: Groups = None,
    all_: All = False,
    command_config: CommandConfig = None,
    config: ConfigFile = None,
    c: Overrides = None,
    topology: Topology = None,
    racks: RackFiles = None,
    workload: StateWorkload = None,
    wait: Wait = 60,
    timeout: Timeout = 30,
    keep_answers: KeepAnswers = None,
    connect_url: ConnectUrls = None,
    ca_file: CaFile = None,
    anonymize: Anonymize = None,
    out: ScenariosOut = "-",
    json: JsonWritten = False,
) -> None:
    """Capture groups of a running Kafka as scenarios: Streams, Connect, plain consumers, share groups.

    Sends read-only requests: joins no group, commits and writes nothing. Members' subscriptions are visible while a
    group is stable, so the command waits for a rebalancing group.
    """
    from assignment_api.connect import MAX_DELAY_KEY
    from assignor_lab.capture.histories.settings import optimization_in
    from assignor_lab.capture.histories.workload_file import weighed
    from assignor_lab.capture.live.access import read_access
    from assignor_lab.capture.live.capture import Capturing, capturable
    from assignor_lab.capture.live.cluster import connected
    from assignor_lab.capture.topology.evidence import reuses_sources
    from assignor_lab.scenarios import write_lines
    from assignor_lab.scenarios.anonymous import anonymous_document, read_pseudonyms
    from assignor_lab.scenarios.topology_provenance import noting_conflicts

    check_json(out, as_json=json)
    if bool(group) == all_:
        raise typer.BadParameter("name groups with --group, or take all with --all", param_hint="--group")
    if anonymize is not None and keep_answers is not None:
        raise typer.BadParameter(
            "answers have names in them: leave it out with --anonymize", param_hint="--keep-answers"
        )
    names = None if anonymize is None else read_pseudonyms(anonymize)
    given = sources(config, c)
    effective = given.effective()
    delay = None
    if MAX_DELAY_KEY in effective:
        delay = int(effective.values_for("connect_incremental")[MAX_DELAY_KEY])
    optimized = reuses_sources(optimization_in(given.above))
    kept: list[Mapping[str, Any]] = []
    left_out: list[str] = []

    def leave_out(unusable: object) -> None:
        left_out.append(str(unusable))
        note(f"left out: {unusable}")

    access = read_access(*addressed(bootstrap_server, command_config, context), timeout)
    with connected(access, None if keep_answers is None else kept.append) as cluster:
        connectors = None if not connect_url else (lambda: _connectors(connect_url, ca_file))
        capturing = Capturing(cluster, given.above, delay, topology, wait, note, connectors, optimized)
        wanted = capturable(cluster) if all_ else list(dict.fromkeys(group or ()))
        documents = list(with_racks(noting_conflicts(capturing.documents(wanted, leave_out), note), rack_filler(racks)))
    if keep_answers is not None:
        write_lines(keep_answers, kept)
    if workload is not None:
        documents = list(weighed(documents, workload))
    if names is not None:
        documents = [anonymous_document(each, names) for each in documents]
    if not documents:
        note("no group was captured")
        raise typer.Exit(_WRONG_USE)
    written = write_lines(out, documents)
    note(f"{written} {'group' if written == 1 else 'groups'} captured")
    print_written(out, written, as_json=json, left_out=left_out)


def _connectors(urls: list[str], ca_file: Path | None) -> Sequence[RemoteConnector]:
    from assignor_lab.connect.remote import read_cluster

    state = ask(urls, ca_file, lambda rest: read_cluster(rest, probe=False))
    for sentence in (*state.notes, *state.unanswered.values()):
        note(sentence)
    return state.connectors
