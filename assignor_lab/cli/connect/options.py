"""Options that several commands under ``assignor connect`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["DataDirectory"]

DataDirectory = Annotated[
    Path, typer.Option("--data-dir", metavar="DIR", help="Folder for logs, topics and files of connectors.")
]
