"""``assignor connect import``: a real Connect cluster, or recordings of one, as histories to score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assignor_lab.cli.connect.access import CaFile, MaybeUrls, ask
from assignor_lab.cli.options import (
    ConfigFile,
    JsonWritten,
    Overrides,
    ScenariosOut,
    check_json,
    keep_inputs,
    print_written,
    sources,
)
from assignor_lab.cli.text import note

if TYPE_CHECKING:
    from assignment_api.connect import ConnectProtocol
    from assignment_api.plugins import EffectiveConfig
    from assignor_lab.capture.recorded.connect.rest_states import WhatHappens

__all__ = ["register"]

_CHECK_FAILED = 1

Recordings = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RECORDINGS",
        help="Answers of brokers to DescribeGroups, or of workers to /connectors?expand=status&expand=info, as JSON "
        "lines, plain or gzip (docs, 'Connect clusters').",
    ),
]
Probe = Annotated[
    bool,
    typer.Option("--probe/--no-probe", help="Find out which workers live, as for `connect status`."),
]
Lose = Annotated[
    list[str] | None,
    typer.Option("--lose", metavar="WORKER", help="Go on with the loss of this worker (host:port); repeatable."),
]
Join = Annotated[
    list[str] | None,
    typer.Option("--join", metavar="NAME", help="Go on with a new worker of this name; repeatable."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="WORKER=KEY=VALUE",
        help="Label of a worker for assignors, such as connect-1:8083=zone=a; repeatable.",
    ),
]
Check = Annotated[
    bool,
    typer.Option(
        "--check",
        help="Decide every recorded generation again with the assignor of its protocol, and compare the answers; "
        "differences end the command with 1.",
    ),
]


def register(connect: typer.Typer) -> None:
    """Adds the command to ``connect``."""
    connect.command("import")(_import)


def _import(
    recordings: Recordings = None,
    url: MaybeUrls = None,
    ca_file: CaFile = None,
    probe: Probe = True,
    lose: Lose = None,
    join: Join = None,
    label: Labels = None,
    config: ConfigFile = None,
    c: Overrides = None,
    check: Check = False,
    out: ScenariosOut = "-",
    json: JsonWritten = False,
) -> None:
    """Turn a running Connect cluster, or recordings of one, into histories that `assign` and `score` take.

    --url and recorded responses of workers give the state at that moment. --lose and --join add the next events.
    Recorded responses of brokers give the generations, with the members' reports and the leader's assignments.
    A fact that the source lacks is an assumption in the history. -c or the worker's own --config can set
    connect.protocol and scheduled.rebalance.max.delay.ms.
    """
    from assignment_api.connect import CONNECT_PROTOCOL, MAX_DELAY_KEY, ConnectProtocol
    from assignor_lab.capture.recorded.connect.rest_states import WhatHappens
    from assignor_lab.documents.wording import plural
    from assignor_lab.scenarios import write_lines

    if bool(recordings) == bool(url):
        raise typer.BadParameter("give recordings or --url, one of the two", param_hint="RECORDINGS")
    check_json(out, as_json=json)
    keep_inputs(out, recordings or [])
    effective = sources(config, c).effective()
    values = effective.values_for("connect_incremental")
    protocol = ConnectProtocol.from_config(values[CONNECT_PROTOCOL]) if CONNECT_PROTOCOL in effective else None
    delay = int(values[MAX_DELAY_KEY]) if MAX_DELAY_KEY in effective else None
    happens = WhatHappens(tuple(lose or ()), tuple(join or ()))
    labels = _labels(label or ())
    if url:
        documents = iter([_live(url, ca_file, happens, protocol, delay, labels, probe=probe)])
    else:
        documents = _recorded(recordings or [], happens, protocol, delay, labels)
    documents = map(_readable, documents)
    failed: list[str] = []
    compared = [0, 0]
    written = write_lines(out, _checked(documents, effective, compared, failed) if check else documents)
    note(f"{written} {'history' if written == 1 else 'histories'} imported")
    if check:
        note(f"{compared[1]} of {plural(compared[0], 'recorded generation')} reproduced")
    for sentence in failed:
        note(sentence)
    print_written(out, written, as_json=json, checked=compared[0], failed=failed)
    if failed:
        raise typer.Exit(_CHECK_FAILED)


def _labels(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for each in texts:
        worker, _, label = each.partition("=")
        key, equals, value = label.partition("=")
        if not (worker and key and equals):
            raise typer.BadParameter(f"{each!r:.80}: expected WORKER=KEY=VALUE", param_hint="--label")
        found.setdefault(worker, {})[key] = value
    return found


def _readable(document: dict[str, Any]) -> dict[str, Any]:
    """``document``, if it is in the format: a cluster or a recording may exceed the format's limits."""
    from assignor_lab.scenarios import DocumentFormatError, Place, scenario_from_document

    source = document["source"]
    try:
        scenario_from_document(document, Place("-"))
    except DocumentFormatError as error:
        place = source.get("file") or source.get("url", "")
        reason = f"makes no history: {error.key}: {error.reason}"
        raise DocumentFormatError(place, source.get("line"), "", reason) from None
    return document


def _live(
    urls: list[str],
    ca_file: Any,
    happens: WhatHappens,
    protocol: ConnectProtocol | None,
    delay: int | None,
    labels: Mapping[str, Mapping[str, str]],
    *,
    probe: bool,
) -> dict[str, Any]:
    from assignor_lab.capture.recorded.connect.rest_states import state_document
    from assignor_lab.connect.remote import read_cluster

    state = ask(urls, ca_file, lambda rest: read_cluster(rest, probe=probe))
    for sentence in (*state.notes, *state.unanswered.values()):
        note(sentence)
    source = {"url": state.url, "time_ms": state.time_ms}
    return state_document(
        state.connectors, state.workers, f"connect-{state.time_ms}", source,
        protocol=protocol, max_delay_ms=delay, happens=happens, labels=labels,
    )  # fmt: skip


def _recorded(
    files: list[str],
    happens: WhatHappens,
    protocol: ConnectProtocol | None,
    delay: int | None,
    labels: Mapping[str, Mapping[str, str]],
) -> Iterator[dict[str, Any]]:
    from assignor_lab.capture.recorded.connect.histories import histories
    from assignor_lab.capture.recorded.connect.recording import read_connect_recording
    from assignor_lab.capture.recorded.connect.rest_states import NoWorkerError, state_document
    from assignor_lab.scenarios import DocumentFormatError

    recording = read_connect_recording(files)
    if not recording.rounds and not recording.states:
        raise DocumentFormatError(
            ", ".join(files),
            None,
            "",
            "holds no stable Connect group and no state of connectors: record one that runs some",
        )
    for document, _ in histories(recording.rounds, delay):
        yield document
    for number, state in enumerate(recording.states, 1):
        source: dict[str, Any] = {"file": state.file, "line": state.line}
        if state.time_ms is not None:
            source["time_ms"] = state.time_ms
        try:
            yield state_document(
                state.connectors, state.workers(), f"state-{number}", source,
                protocol=protocol, max_delay_ms=delay, happens=happens, labels=labels,
            )  # fmt: skip
        except NoWorkerError as error:
            note(f"left out: {state.file}, line {state.line}: {error}")


def _checked(
    documents: Iterator[dict[str, Any]], effective: EffectiveConfig, compared: list[int], failed: list[str]
) -> Iterator[dict[str, Any]]:
    from assignor_lab.capture.recorded.connect.comparison import compare_observed
    from assignor_lab.runtime.discovery import discovered
    from assignor_lab.scenarios import Place, scenario_from_document

    registry = discovered(effective).registry
    for document in documents:
        if "observed" in document:
            history = scenario_from_document(document, Place(str(document["id"]))).connect_history
            for each in compare_observed(
                history, document["observed"], lambda name: registry.connect_assignor(name).create()
            ):
                compared[0] += 1
                compared[1] += not each.difference
                if each.difference:
                    failed.append(f"{document['id']}, round {each.number}: {each.difference:.500}")
        yield document
