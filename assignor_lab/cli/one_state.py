"""Options that choose states of a file."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["Round", "StateId", "StateSource"]

StateSource = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help="States of any kind: a file of import or capture, plain or gzip (- is the standard input); the log of a "
        "leader; a folder of record.",
    ),
]
StateId = Annotated[
    str | None, typer.Option("--id", metavar="STATE", help="Id of a state, or its line in a file of states.")
]
Round = Annotated[
    int | None, typer.Option("--round", metavar="N", min=0, help="This round of a Connect history alone, from 0.")
]
