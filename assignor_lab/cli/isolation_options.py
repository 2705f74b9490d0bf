"""Options for the plugins that run in the process of the lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

__all__ = ["Isolate", "Trust", "with_isolation"]

Trust = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="NAME",
        help="Distribution, distribution:plugin or module:attribute that may run in the lab's own process, unlimited.",
    ),
]

Isolate = Annotated[
    str | None,
    typer.Option("--isolate", metavar="KIND", help="Plugins that run in a process of their own: untrusted, all, none."),
]


def with_isolation(overrides: Sequence[str] | None, trust: Sequence[str] | None, isolate: str | None) -> list[str]:
    """Items of ``-c`` with the values of the two options."""
    from assignment_api.plugins.keys import ISOLATE, TRUST

    words = list(overrides or ())
    if trust:
        words.append(f"{TRUST}={','.join(trust)}")
    if isolate is not None:
        words.append(f"{ISOLATE}={isolate}")
    return words
