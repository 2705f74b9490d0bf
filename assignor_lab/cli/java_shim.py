"""``assignor java-shim``: the jar by which a Java application asks a Python assignor."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.text import note, print_json, print_line
from assignor_lab.documents.durable import naming_failures, write_durably

__all__ = ["register"]

Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to copy it to; it is made if need be.")]

#: What the application sets task.assignor.class to.
ASSIGNOR_CLASS = "assignorlab.shim.AssignorLabTaskAssignor"
NAME = "assignor-lab-shim.jar"


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""

    @app.command("java-shim")
    def java_shim(out: Out, json: Json = False) -> None:
        """Copy the shim by which a Java application asks a Python assignor: one small jar.

        It belongs on the class path of every instance, with 'assignor serve-assignor' beside each.
        """
        jar = files("assignor_lab").joinpath("jars/shim.jar").read_bytes()
        target = out / NAME
        with naming_failures(out):
            out.mkdir(parents=True, exist_ok=True)
        write_durably(target, jar)
        if json:
            print_json({"out": str(target), "bytes": len(jar), "task.assignor.class": ASSIGNOR_CLASS})
        else:
            print_line(target)
            note(f"set task.assignor.class={ASSIGNOR_CLASS}, and assignor.lab.port.file or assignor.lab.command")
