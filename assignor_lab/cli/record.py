"""``assignor record``: a group's past from its coordinator's topic, and what follows."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from assignor_lab.cli.cluster_options import BootstrapServer, CommandConfig, Timeout
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import console, note, print_json, table

__all__ = ["register"]

Group = Annotated[str, typer.Option("--group", metavar="GROUP", help="The group.")]
Follow = Annotated[bool, typer.Option("--follow", help="Go on with what comes, until Ctrl-C.")]
For = Annotated[
    str | None,
    typer.Option("--for", metavar="TIME", help="Go on for so long, such as 30s, 15m or 2h; with --follow or not."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the recording in the folder.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the recording.")]

_TIME = re.compile(r"([0-9]{1,6})(s|m|h)\Z")
_SECONDS = {"s": 1, "m": 60, "h": 3_600}


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("record")
    def record(
        bootstrap_server: BootstrapServer,
        group: Group,
        out: Out,
        command_config: CommandConfig = None,
        follow: Follow = False,
        for_: For = None,
        resume: Resume = False,
        timeout: Timeout = 30,
        json: Json = False,
    ) -> None:
        """Record a group's past from its coordinator's topic: every generation or epoch that is still there.

        Only reads: joins no group, commits and writes nothing to the cluster. What is not there, cleaned away or
        never completed, is shown as a hole.
        """
        from assignor_lab.capture.live.access import read_access
        from assignor_lab.capture.live.cluster import connected
        from assignor_lab.capture.live.recorder import HISTORY, record_group

        access = read_access(bootstrap_server, command_config, timeout)
        follow_s = _seconds(for_) if for_ is not None else math.inf if follow else None
        with connected(access) as cluster:
            recorded = record_group(
                cluster,
                access,
                group,
                out,
                resume=resume,
                follow_s=follow_s,
                on_generation=(lambda told: note(_sentence(told))) if follow_s is not None else (lambda _: None),
            )
        generations = recorded.history.generations
        for offset, reason in recorded.history.unreadable:
            note(f"warning: record {offset} is kept, and left out of the history: {reason}")
        if json:
            print_json({
                "out": str(out / HISTORY), "generations": generations, "records": recorded.read,
                "kept": recorded.kept, "read_to": recorded.read_to,
            })  # fmt: skip
            return
        console().print(table(("GENERATION", "TIME", "MEMBERS", "JOINED", "LEFT", ""), map(_row, generations)))
        note(f"{recorded.kept} of {recorded.read} records are the group's; history in {out / HISTORY}")


def _seconds(text: str) -> float:
    match = _TIME.match(text.strip())
    if match is None:
        raise typer.BadParameter(f"{text!r:.40}: write a number and s, m or h, such as 2h", param_hint="--for")
    return float(int(match[1]) * _SECONDS[match[2]])


def _row(told: dict[str, Any]) -> tuple[object, ...]:
    said = []
    if "hole" in told:
        first, last = told["hole"]
        said.append(f"{first} to {last} are not there" if first < last else f"{first} is not there")
    if told.get("deleted"):
        said.append("the group was deleted")
    number = "" if told["generation"] is None else told["generation"]
    joined, left = len(told["joined"]), len(told["left"])
    return number, _time(told["t"]), len(told["members"]), joined or "", left or "", "; ".join(said)


def _sentence(told: dict[str, Any]) -> str:
    number, at, members, joined, left, said = _row(told)
    return f"{at} generation {number}: {members} members, {joined or 0} joined, {left or 0} left{said and '; '}{said}"


def _time(epoch_ms: int) -> str:
    return datetime.fromtimestamp(epoch_ms / 1_000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"
