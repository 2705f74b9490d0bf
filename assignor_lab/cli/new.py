"""``assignor new``: creates a distribution for the user's own assignor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.text import print_json, print_line

__all__ = ["register"]

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="Name of the distribution, such as my-assignor; the assignor is my_assignor."),
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="streams, group (KIP-1071), connect, consumer: assignors of these groups; or metric, family, observer, "
        "connector.",
    ),
]
Folder = Annotated[Path, typer.Option("--in", metavar="DIR", help="Where its folder is made.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("new")(_new)


def _new(name: Name, kind: Kind = "streams", folder: Folder = Path(), json: Json = False) -> None:
    """Lay out a distribution for an assignor or another plugin: code, entry point, types, tests, CI.

    It passes its own pytest and mypy --strict as it is. 'assignor update' brings it up to later templates.
    """
    from assignor_lab.new import KINDS_OF_NEW, laid_out, module_of, steps_of

    if kind not in KINDS_OF_NEW:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS_OF_NEW)}", param_hint="--kind")
    target = laid_out(name, kind, folder)
    steps = steps_of(name, kind, target)
    if json:
        part = kind if kind in ("metric", "family", "observer", "connector") else "assignor"
        print_json({"folder": str(target), "kind": kind, part: module_of(name), "next": list(steps)})
        return
    print_line(f"{target} is {KINDS_OF_NEW[kind]}. Next:")
    for step in steps:
        print_line(f"  {step}")
