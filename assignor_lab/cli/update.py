"""``assignor update``: updates a distribution of ``assignor new`` to a later template."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assignor_lab.cli.options import Json
from assignor_lab.cli.text import print_json, print_line

__all__ = ["register"]

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The distribution; by default the working directory.")]


def register(app: typer.Typer) -> None:
    """Adds the command to ``app``."""
    app.command("update")(_update)


def _update(folder: Folder = Path(), json: Json = False) -> None:
    """Update a distribution of 'assignor new' to the newest template and keep your changes.

    It must be a git repository without uncommitted changes. Conflicts are marked as in git.
    """
    from assignor_lab.new import updated

    updated(folder)
    if json:
        print_json({"folder": str(folder)})
        return
    print_line(f"{folder} is up to date with the template: look at git diff")
