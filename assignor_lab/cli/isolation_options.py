"""Options that say which plugins run in the process of the lab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from assignment_api.plugins.keys import ISOLATE, TRUST
from assignment_api.plugins.policy import ISOLATION

__all__ = ["Isolate", "Trust", "with_isolation"]

#: ``--trust NAME``, any number of times
Trust = Annotated[
    list[str] | None,
    typer.Option(
        "--trust",
        metavar="NAME",
        help="Distribution, distribution:plugin or module:attribute that may run in the lab's own process, unlimited.",
    ),
]

#: ``--isolate WHO``
Isolate = Annotated[
    str | None,
    typer.Option("--isolate", metavar="WHO", help=f"Who runs in a process of its own: {', '.join(ISOLATION)}."),
]


def with_isolation(overrides: Sequence[str] | None, trust: Sequence[str] | None, isolate: str | None) -> list[str]:
    """Items of ``-c`` with what the two options say."""
    words = list(overrides or ())
    if trust:
        words.append(f"{TRUST}={','.join(trust)}")
    if isolate is not None:
        words.append(f"{ISOLATE}={isolate}")
    return words
