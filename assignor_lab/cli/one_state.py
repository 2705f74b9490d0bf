"""Options that choose states of a file, and the states that they choose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from assignor_lab.documents.errors import printable
from assignor_lab.scenarios import Scenario, read_scenarios

__all__ = ["Round", "StateId", "chosen_states"]

#: ``--id STATE``
StateId = Annotated[
    str | None, typer.Option("--id", metavar="STATE", help="Id of a state of the file, or the number of its line.")
]
#: ``--round N``
Round = Annotated[
    int | None, typer.Option("--round", metavar="N", min=0, help="This round of a Connect history alone, from 0.")
]
#: Ids that a message lists.
MOST_LISTED = 5


def chosen_states(source: str, wanted: str | None) -> Iterator[Scenario]:
    """The states of a file: all, or the first one that has an id or stands on a line.

    Raises:
        DocumentFormatError: if the file cannot be read.
        typer.BadParameter: if there is no such state; some that there are are named.
    """
    ids: list[str] = []
    for scenario in read_scenarios(source):
        ids.append(scenario.id)
        if wanted is None:
            yield scenario
        elif wanted in (scenario.id, str(scenario.place.line)):
            yield scenario
            return
    if not ids:
        raise typer.BadParameter(f"{source!r} holds no state", param_hint="SOURCE")
    if wanted is not None:
        listed = ", ".join(printable(each) for each in ids[:MOST_LISTED])
        more = f" and {len(ids) - MOST_LISTED} more" if len(ids) > MOST_LISTED else ""
        raise typer.BadParameter(f"no state {wanted!r:.80}: the file has {listed}{more}", param_hint="--id")
