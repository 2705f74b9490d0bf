"""``assignor connect plan-static``: static jobs for each worker (KIP-987)."""

from __future__ import annotations

import sys
from typing import Annotated

import attrs
import typer

from assignment_api.input_files import read_input
from assignor_lab.cli.connect.views import print_plan
from assignor_lab.cli.options import Json
from assignor_lab.cli.text import print_json
from assignor_lab.documents.errors import DocumentFormatError
from assignor_lab.scenarios import Place
from assignor_lab.simulation.connect.static_plan import plan_static, read_plan_input

__all__ = ["register"]

PlanFile = Annotated[str, typer.Argument(metavar="FILE", help="JSON file; - is the standard input.")]


def register(connect: typer.Typer) -> None:
    """Adds the command to ``assignor connect``."""
    connect.command("plan-static")(_plan_static)


def _plan_static(file: PlanFile, json: Json = False) -> None:
    """Choose static.connectors and static.tasks for each worker (KIP-987), from weights and sizes.

    FILE is JSON: {"connectors": [{"name": "a", "tasks": 3, "task_weight": 2}], "workers": [{"name": "w1", "size": 8}]}.
    """
    try:
        data = sys.stdin.buffer.read() if file == "-" else read_input(file)
    except OSError as error:
        raise DocumentFormatError(
            file, None, "", f"cannot be read: {error.strerror or error}; check the path"
        ) from None
    plan = plan_static(*read_plan_input(data, Place(file)))
    if json:
        print_json(attrs.asdict(plan))
    else:
        print_plan(plan)
