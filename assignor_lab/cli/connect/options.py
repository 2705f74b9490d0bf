"""Options that several commands under ``assignor connect`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DataDirectory", "Seed"]

Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every draw.")]
DataDirectory = Annotated[
    Path, typer.Option("--data-dir", metavar="DIR", help="Where logs, topics and connectors' files are kept.")
]
