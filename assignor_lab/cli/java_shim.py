"""``assignor java-shim``: the jar through which a Java application calls a Python assignor."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.text import note, print_json, print_line

__all__ = ["register"]

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to copy it to; it is made if need be.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("java-shim")(_java_shim)


def _java_shim(out: Out, json: Json = False) -> None:
    """Copy the shim through which a Java application calls a Python assignor: one small jar.

    It belongs on the class path of every instance, with 'assignor serve-assignor' beside each.
    """
    from assignor_lab.documents.durable import naming_failures, write_durably
    from assignor_lab.serving.shim import ASSIGNOR_CLASS, JAR_NAME, shim_jar

    jar = shim_jar()
    target = out / JAR_NAME
    with naming_failures(out):
        out.mkdir(parents=True, exist_ok=True)
    write_durably(target, jar)
    if json:
        print_json({"out": str(target), "bytes": len(jar), "task.assignor.class": ASSIGNOR_CLASS})
    else:
        print_line(target)
        note(f"set task.assignor.class={ASSIGNOR_CLASS}, and assignor.lab.port.file or assignor.lab.command")
